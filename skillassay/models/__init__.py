"""The models: one port (:mod:`base`), one module a provider. Importing this package imports no SDK."""
