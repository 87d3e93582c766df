"""Who answers: one port (:mod:`base`), one module a kind of subject."""
