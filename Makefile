# Two commands carry everything: `make run` and `make test`. CONTRIBUTING.md explains the others.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run test sandbox package soak fuzz bench lint format docs check clean

help:    ## Show the commands
	@sed -n 's/^\([a-z]*\): *## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 18

run:     ## Install what is missing, build, and start the demo on 127.0.0.1:8080 (ARGS="--listen …")
	@bash scripts/run.sh $(ARGS)

test:    ## Install what is missing, and run the quick proof (ONLY=TollgateCoreTests for one module)
	@bash scripts/test.sh $(ONLY)

sandbox: ## Build the stores alone, for any project: Sandbox/.build/debug/sandbox
	@bash scripts/bootstrap.sh run && bash scripts/swift.sh build --package-path Sandbox --product sandbox

package: ## Build for release and make a .deb and a tarball, for machines without Swift, in output/packages
	@bash scripts/bootstrap.sh package && bash scripts/package.sh $(ARGS)

soak:    ## The long tests, hours of them, in pieces that add up over several runs (PARTS="worlds fuzz …")
	@bash scripts/bootstrap.sh test && bash scripts/python.sh && bash scripts/soak.sh $(PARTS)

fuzz:    ## Fuzz what strangers send, 15 minutes for each reader (SECONDS=… for another time)
	@bash scripts/bootstrap.sh test && bash scripts/swift.sh build --package-path Server --build-tests && \
		bash scripts/fuzz.sh $(or $(SECONDS),900)

bench:   ## Build for release and print the benchmark table
	@bash scripts/bootstrap.sh bench && bash scripts/bench.sh $(ARGS) && { [ -n "$(ARGS)" ] || bash scripts/sdk-figures.sh; }

lint:    ## Check formatting, links and house rules
	@bash scripts/lint.sh

format:  ## Format every Swift file in place
	@bash scripts/swift-files.sh | xargs -0 swift format --in-place --parallel

docs:    ## Build the reference of BillingSDK into output/docs
	@bash scripts/docs.sh

check:   ## lint and test, with one closing line: what CI runs
	@bash .ci/run

clean:   ## Remove what was built and what the demo stored
	rm -rf .build .build-docs .build-tsan .build-figures AppleStubs/.build Server/.build Server/.build-package Sandbox/.build Shared/.build Server/Benchmarks/.build .venv .venv-bench output .tollgate
