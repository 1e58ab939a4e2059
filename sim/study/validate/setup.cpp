#include "sim/study/validate/setup.h"

#include <fmt/format.h>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/study/validate/comparison.h"

namespace systole::validate {
namespace {

run::Content pinned(const Setup& setup, const PinnedModel& model, std::string_view workload) {
    const std::filesystem::path path = setup.beside.find(model.file, "models");
    run::Content content = run::content_of(path);
    if (content.hash != model.sha256) {
        throw machine::ConfigError(
            fmt::format("{}: models.{}: {} has the SHA-256 {}, pinned is {}; a workload of the validation "
                        "must not change",
                        setup.file, workload, path.string(), content.hash, model.sha256));
    }
    return content;
}

/// A run of more batches less one of fewer: what the additional batches cost.
run::RunRecord difference(run::RunRecord more, const run::RunRecord& fewer) {
    const std::uint64_t additional =
        (more.program.inferences - fewer.program.inferences) / more.program.batch;
    more.cycles = (more.cycles - fewer.cycles) / additional;
    for (run::Counter& counter : more.counters.all) {
        counter.total = (counter.total - fewer.counters.at(counter.path).total) / additional;
    }
    return more;
}

}  // namespace

Setup read_setup(const std::string& target, const run::PathFinder& paths) {
    const std::filesystem::path file = paths.find(target, "validation");
    Setup setup{.file = file.string(), .beside = run::PathFinder(file), .target = read_target(file)};
    const auto find = [&](const std::string& name, const char* kind) {
        return setup.beside.find(name, kind);
    };
    setup.published = read_published(find(setup.target.published, "published"));
    setup.machine = machine::read_machine(find(setup.target.machine, "machines"));
    setup.published_machine = machine::read_machine(find(setup.target.published_machine, "machines"));
    setup.cpu = baselines::read_baseline(find(setup.target.cpu, "baselines"));
    setup.gpu = baselines::read_baseline(find(setup.target.gpu, "baselines"));
    require_watts(setup.cpu, setup.gpu);
    setup.shapes = read_shapes(find(setup.target.shapes, "models"));
    for (std::size_t i = 0; i < workload_count; ++i) {
        setup.workloads[i] =
            batch_of(pinned(setup, setup.target.models[i], workload_names[i]),
                     setup.published.count(fmt::format("table_1.batch.{}", workload_names[i])),
                     setup.target.mapping.choices);
    }
    return setup;
}

machine::MachineConfig machine_of(const Setup& setup, const Variant& variant,
                                  const machine::MachineConfig& machine) {
    nlohmann::json object = machine::to_json(machine);
    run::apply_to_machine(variant.machine, object, setup.file);
    if (machine.name == setup.machine.name) {
        run::apply_to_machine(variant.fitted_machine, object, setup.file);
    }
    return machine::read_machine(object, fmt::format("{}: \"{}\"", setup.file, variant.label));
}

ByWorkload<run::RunSpec> workloads_of(const Setup& setup, const Variant& variant) {
    ByWorkload<run::RunSpec> workloads = setup.workloads;
    for (std::size_t i = 0; i < workload_count; ++i) {
        run::CompilerOptions& compiler = workloads[i].compiler;
        if (variant.mapping_name) compiler.mapping = run::mapping_named(*variant.mapping_name);
        compiler.mapping = with(compiler.mapping, variant.mapping, setup.file);
        compiler.limit = std::uint64_t{compiler.batch} * variant.batches;
        const auto other = variant.models.find(std::string(workload_names[i]));
        if (other == variant.models.end()) continue;
        workloads[i].network = run::content_of(setup.beside.find(other->second, "models"));
    }
    return workloads;
}

VariantRuns run_variant(const Setup& setup, const Variant& variant, const machine::MachineConfig& machine,
                        const Simulate& simulate) {
    VariantRuns runs{.machine = machine_of(setup, variant, machine),
                     .workloads = workloads_of(setup, variant)};
    runs.records = run_all(runs.workloads, runs.machine, simulate);
    if (variant.batches == 1) return runs;
    ByWorkload<run::RunSpec> fewer = runs.workloads;
    for (run::RunSpec& spec : fewer) spec.compiler.limit -= spec.compiler.batch;
    const ByWorkload<run::RunRecord> before = run_all(fewer, runs.machine, simulate);
    runs.records = by_workload([&](std::size_t i) { return difference(runs.records[i], before[i]); });
    return runs;
}

}  // namespace systole::validate
