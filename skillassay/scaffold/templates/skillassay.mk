# Targets for the skills of this repository. Include it from your Makefile: include skillassay.mk
# All names begin with skills- or SKILLASSAY, and your default goal stays yours.
# make turns every failure into exit code 2; where 1 (failed) and 3 (cannot decide) differ, call skillassay itself.
SKILLASSAY ?= skillassay
SKILLASSAY_GOAL := $(.DEFAULT_GOAL)

.PHONY: skills-check skills-eval skills-bump skills-lock skills-verify

skills-check: ## Check skills, suites, contract and lock, offline
	$(SKILLASSAY) check

skills-eval: ## Evaluate the skills; SKILL=name for one
	$(SKILLASSAY) eval $(if $(SKILL),--skill $(SKILL))

skills-bump: ## Say which version a skill needs, or raise it: SKILL=name [PART=patch|minor|major]
	$(SKILLASSAY) bump $(SKILL) $(if $(PART),$(PART),--suggest)

skills-lock: ## Write skills.lock.json
	$(SKILLASSAY) lock

skills-verify: ## Verify skills.lock.json, as CI does
	$(SKILLASSAY) lock --check

.DEFAULT_GOAL := $(SKILLASSAY_GOAL)
