# What a user types. Each target installs the packages it lacks (Debian 12; as root or with sudo).
JOBS ?= $(shell nproc)
RUN ?= configs/runs/mnist_cnn.json
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
RANDOM_PERCENT ?= 1000
MUTANTS_DRAWN ?= 300
MUTANT_SEEDS ?= 1 2 3
MUTANTS_WHEN ?=
KILLS ?= 50
KILL_POINTS ?= 200
KILL_SEED ?= 1
JUDGE_CASES ?= 3200
JUDGE_NETWORKS ?=
JUDGE_SEQUENCES ?=
JUDGE_HLO_CASES ?= 520
JUDGE_HLO_FIRST ?= 1
NETWORK_FILES ?= $(wildcard ../shared/data/coral ../shared/data/tflite ../shared/data/onnx)

# libsystemc greets on stderr in every process, also while CMake asks test programs for their cases.
export SYSTEMC_DISABLE_COPYRIGHT_MESSAGE := 1

packages_build := scripts/packages_build.txt
packages_test := $(packages_build) scripts/packages_test.txt
packages_mutants := $(packages_test) tests/mutants/packages.txt
packages_cluster := $(packages_test) scripts/packages_cluster.txt
packages_judge := $(packages_build) scripts/packages_judge.txt

# TFLite, ONNX Runtime and Keras, in an environment under build/ that tests/judges/make_environment.sh makes.
judge_python := build/judges/env/bin/python
newest_python := build/judges/env_2_21/bin/python
jax_python := build/judges/env_jax/bin/python
torch_python := build/judges/env_torch/bin/python

.PHONY: help run install test sanitize bench figures fuzz random mutants mutants-random kill-test cluster-test cluster-test-long judge judge-hlo judge-networks judge-python judge-sequences format format-check includes tidy packages-build packages-cluster packages-judge packages-mutants packages-test clean

help:
	@echo "make run      build the simulator and run $(RUN)   (RUN=another.json)"
	@echo "make install  build the simulator and the hardware library, and install them into PREFIX=$(PREFIX)"
	@echo "make test     build everything and run all tests"
	@echo "make sanitize the same with AddressSanitizer and UndefinedBehaviorSanitizer; random tests make a tenth of the runs"
	@echo "make bench    build and run the benchmarks"
	@echo "make figures  make docs/validation.md and its figures anew, and the pages of choices, Edge TPU and Cloud TPU"
	@echo "make fuzz     fuzz every parser, and the engines against each other, for FUZZ_SECONDS=$(FUZZ_SECONDS) each"
	@echo "make random   all tests, random ones with RANDOM_PERCENT=$(RANDOM_PERCENT) of their runs"
	@echo "make mutants  small faults in the sources, one at a time: a test must fail for each (MUTANTS=name for one)"
	@echo "make mutants-random  the same with MUTANTS_DRAWN=$(MUTANTS_DRAWN) faults drawn by each of MUTANT_SEEDS='$(MUTANT_SEEDS)'"
	@echo "make kill-test  KILLS=$(KILLS) random kills of the processes of a study of KILL_POINTS=$(KILL_POINTS) points"
	@echo "make cluster-test  a study by a real Slurm, started on this machine; cluster-test-long also kills and takes nodes down"
	@echo "make judge    TensorFlow's and ONNX's runtimes judge JUDGE_CASES=$(JUDGE_CASES) drawn cases of operators, and ONNX's own"
	@echo "make judge-hlo  JAX judges JUDGE_HLO_CASES=$(JUDGE_HLO_CASES) drawn functions, from seed JUDGE_HLO_FIRST=$(JUDGE_HLO_FIRST) on, and whole programs"
	@echo "make judge-python  the Python package with Parquet, JAX and its device, Keras, a type checker and Jupyter"
	@echo "make judge-networks  the same with whole networks (JUDGE_NETWORKS='unet mobilenet' for some)"
	@echo "make judge-sequences  the same with networks of sequences and attention, as PyTorch, Keras and TensorFlow export them"
	@echo "make format   format all sources;  make format-check  only look"
	@echo "make includes sources that use a header without including it"
	@echo "make tidy     clang-tidy on what differs from the last green commit; TIDY=--all on all sources"
	@echo "make clean    remove build/"

run: packages-build
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target sim
	build/release/sim $(RUN)

# DESTDIR=folder stands before PREFIX, for packages.
install: packages-build
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target installed
	cmake --install build/release --prefix "$(abspath $(PREFIX))"

test: packages-test
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS)
	scripts/in_temporary_folder.sh ctest --preset release --parallel $(JOBS)

sanitize: packages-test
	cmake --preset sanitize
	cmake --build --preset sanitize --parallel $(JOBS)
	ctest --preset sanitize --parallel $(JOBS)

bench: packages-build
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target benchmarks sim
	@set -e; for program in build/release/*_bench; do echo "== $${program##*/}"; $$program; done

figures: packages-build
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target figures

fuzz: packages-test
	cmake --preset fuzz
	cmake --build --preset fuzz --parallel $(JOBS)
	@set -e; for program in build/fuzz/*_fuzz; do \
	    name=$${program##*/}; name=$${name%_fuzz}; \
	    mkdir -p build/fuzz/corpus/$$name; echo "== $$name"; \
	    $$program -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 -artifact_prefix=build/fuzz/$$name- \
	        build/fuzz/corpus/$$name tests/fuzz/seeds/$$name; \
	done

format: packages-test
	@git ls-files -z --cached --others --exclude-standard '*.h' '*.cpp' | xargs -0 clang-format -i

format-check: packages-test
	@git ls-files -z --cached --others --exclude-standard '*.h' '*.cpp' | xargs -0 clang-format --dry-run -Werror

# On what differs from the commit in .ci/green, which passed all checks; TIDY=--all for all sources.
tidy: packages-test
	cmake --preset release
	scripts/tidy.py build/release $(TIDY) --jobs $(JOBS)

includes: packages-test
	scripts/missing_includes.py

# All tests, the random ones with RANDOM_PERCENT of the runs that `make test` gives them.
random: packages-test
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS)
	SYSTOLE_RANDOM_PERCENT=$(RANDOM_PERCENT) ctest --preset release --parallel $(JOBS)

mutants: packages-test
	scripts/mutants.py $(MUTANTS) --jobs $(JOBS)

# Debian's Python, which has Debian's libclang. MUTANTS_WHEN=2026-11-26 keeps the rates under this date.
mutants-random: packages-mutants
	cmake --preset dev
	cmake --build --preset dev --parallel $(JOBS)
	/usr/bin/python3 scripts/mutants.py --random $(MUTANTS_DRAWN) --seed $(MUTANT_SEEDS) --when "$(MUTANTS_WHEN)" --jobs $(JOBS)

kill-test: packages-test
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target system sim
	SYSTOLE_KILLS=$(KILLS) SYSTOLE_KILL_POINTS=$(KILL_POINTS) SYSTOLE_KILL_SEED=$(KILL_SEED) \
	    build/release/system "Killed processes lose only the points under way"

# A Slurm of one node, as root.
cluster-test: packages-cluster
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target system sim
	scripts/cluster.sh build/release/system "[cluster]~[.long]"

cluster-test-long: packages-cluster
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target system sim
	scripts/cluster.sh build/release/system "[cluster]"

# Other people's programs compute what sim must compute; tests/judges/README.md says how. Not part of `make test`.
judge: packages-judge
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target sim
	tests/judges/make_environment.sh
	$(judge_python) tests/judges/generate.py --count $(JUDGE_CASES)
	$(newest_python) tests/judges/rejudge.py
	$(judge_python) tests/judges/compare.py --jobs $(JOBS)
	$(judge_python) tests/judges/onnx_node_tests.py --jobs $(JOBS)
	$(judge_python) tests/judges/keras_quantized.py

# 8-bit networks also on an Edge TPU with TFLite's rounding, float ones also on Cloud TPUs.
judge-networks: packages-judge
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target sim judge_reference
	tests/judges/make_environment.sh
	$(judge_python) tests/judges/networks.py $(addprefix --network ,$(JUDGE_NETWORKS))
	$(if $(NETWORK_FILES),$(judge_python) tests/judges/networks.py $(addprefix --files ,$(NETWORK_FILES)))
	$(newest_python) tests/judges/rejudge.py --cases build/judges/networks
	$(judge_python) tests/judges/compare.py --cases build/judges/networks --jobs 1
	$(judge_python) tests/judges/compare.py --cases build/judges/networks --jobs 1 --only _int8 --rows --refusals \
	    --machine edge_tpu_usb --set tile_array.rounding=tflite
	@set -e; for machine in tpu_v2_1core tpu_v2_8 tpu_v3_8; do \
	    $(judge_python) tests/judges/tensor_core.py --machine $$machine; \
	done

# Small networks with each exporter, and large ones, on TPU v1 and a Cloud TPU (JUDGE_SEQUENCES='bert gpt2': some).
judge-sequences: packages-judge
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target sim judge_reference
	tests/judges/make_environment.sh
	tests/judges/make_environment.sh torch
	$(torch_python) tests/judges/torch_networks.py $(addprefix --network ,$(JUDGE_SEQUENCES))
	$(torch_python) tests/judges/torch_networks.py --size real --exporter script \
	    $(addprefix --network ,$(JUDGE_SEQUENCES))
	$(if $(JUDGE_SEQUENCES),,$(judge_python) tests/judges/sequence_networks.py)
	$(judge_python) tests/judges/compare.py --cases build/judges/sequences --jobs 1 --seconds 1800
	$(judge_python) tests/judges/tensor_core.py --cases build/judges/sequences

# Drawn functions of JAX, and whole programs: as HLO, and as JAX computes them.
judge-hlo: packages-judge
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target judge_hlo sim
	tests/judges/make_environment.sh jax
	$(jax_python) tests/judges/hlo/judge_training.py build/release/sim build/judges/hlo_training
	rm -rf build/judges/hlo
	$(jax_python) tests/judges/hlo/draw_cases.py build/judges/hlo --programs --jobs $(JOBS) \
	    --count $(JUDGE_HLO_CASES) --first $(JUDGE_HLO_FIRST)
	$(jax_python) tests/judges/hlo/compare_cases.py build/judges/hlo --jobs $(JOBS)

# The Python package as its users have it: Parquet, JAX, Keras, types, notebooks in a Jupyter kernel.
judge-python: packages-judge
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target sim
	tests/judges/python_package.sh build/release/sim

packages-cluster:
	@scripts/install_packages.sh $(packages_cluster)

packages-mutants:
	@scripts/install_packages.sh $(packages_mutants)

packages-judge:
	@scripts/install_packages.sh $(packages_judge)

# All that comes from elsewhere is there before anything is compiled.
packages-build:
	@scripts/install_packages.sh $(packages_build)
	@scripts/fetch_node_modules.sh sim/view/page/web

packages-test:
	@scripts/install_packages.sh $(packages_test)
	@scripts/fetch_node_modules.sh sim/view/page/web tests/page

clean:
	rm -rf build
