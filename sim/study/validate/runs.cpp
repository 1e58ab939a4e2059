#include "sim/study/validate/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/run/execute/executor.h"
#include "sim/run/training_file.h"
#include "sim/study/validate/machines.h"
#include "sim/view/report/report.h"

namespace systole::validate {
namespace {

/// Of a counter. With one batch more a unit may wait less: then the batch adds nothing to it.
void subtract(std::uint64_t& from, std::uint64_t what) {
    from -= std::min(from, what);
}

/// A run of more batches less one of fewer: what the additional batch costs. What is of all batches alike,
/// such as latency, is of neither.
run::RunRecord difference(run::RunRecord more, const run::RunRecord& fewer) {
    const std::uint64_t batches = more.program.inferences / more.program.batch;
    const auto at_a_time = [](const run::RunRecord& record) {
        return record.batch ? record.batch->at_a_time : 0;
    };
    if (more.program.layers != fewer.program.layers || at_a_time(more) != at_a_time(fewer)) {
        throw machine::ConfigError(
            fmt::format("{}: the programs of {} batches and of one fewer have other layers, or other numbers "
                        "of images at a time: there is no batch in the middle",
                        more.program.model, batches));
    }
    if (more.cycles <= fewer.cycles) {
        throw machine::ConfigError(
            fmt::format("{} cycles of {} batches, {} of one fewer: there is no batch in the middle",
                        more.cycles, batches, fewer.cycles));
    }
    more.cycles -= fewer.cycles;
    for (run::Counter& counter : more.counters.all) {
        const run::Counter& before = fewer.counters.at(counter.path);
        subtract(counter.total, before.total);
        for (std::size_t tag = 0; tag < counter.by_tag.size(); ++tag) {
            subtract(counter.by_tag[tag], before.value(static_cast<run::Tag>(tag)));
        }
    }
    for (std::size_t i = 0; i < more.bounds.size(); ++i) {
        machine::Bound& bound = more.bounds[i];
        subtract(bound.run, fewer.bounds.at(i).run);
        for (std::size_t tag = 0; tag < bound.by_tag.size(); ++tag) {
            subtract(bound.by_tag[tag], fewer.bounds[i].value(static_cast<run::Tag>(tag)));
        }
    }
    for (std::size_t i = 0; i < more.parts.size(); ++i) {
        run::MachinePart& part = more.parts[i];
        const run::MachinePart& before = fewer.parts.at(i);
        if (part.cycles) subtract(*part.cycles, before.cycles.value());
        for (std::size_t tag = 0; tag < part.by_tag.size(); ++tag) {
            if (tag < before.by_tag.size()) subtract(part.by_tag[tag], before.by_tag[tag]);
        }
    }
    more.program.inferences = more.program.batch;
    // A batch in the middle waits for no first input, and ends nothing.
    more.phases = run::Phases{.head = 0, .last_result = more.cycles, .first_fetch = {}, .last_tile = 0};
    more.latency.reset();
    return more;
}

}  // namespace

Simulate make_simulate() {
    return [executor = std::make_shared<run::Executor>()](std::span<const run::RunSpec> specs) {
        std::vector<run::RunRecord> records;
        for (run::RunOutcome& outcome : executor->run(specs)) {
            if (!outcome.record) throw NoSuchRun(outcome.error);
            records.push_back(std::move(*outcome.record));
        }
        return records;
    };
}

namespace {

/// The cycles in which the main unit waited for weights, by kind of layer.
std::map<std::string, std::uint64_t> weight_waits(const run::RunRecord& record) {
    // Kinds of layers with weights are there also where the network has none of them.
    std::map<std::string, std::uint64_t> waits{{"dense", 0}, {"convolution", 0}};
    const run::ProgramFacts& program = record.program;
    const std::size_t tags = std::max(program.layers.size() + 1, program.tags.size());
    for (std::size_t tag = 0; tag < tags; ++tag) {
        const bool is_layer = tag > 0 && tag <= program.layers.size();
        std::uint64_t& of_kind = waits[is_layer ? program.layers[tag - 1].kind : std::string()];
        for (const machine::CycleClass& each : record.main_unit().main->classes) {
            if (!each.waits_for_weights) continue;
            of_kind += record.counters.at(each.counter).value(static_cast<run::Tag>(tag));
        }
    }
    return waits;
}

/// What the layers would take one after the other, each by its largest bound, by scope: what their names have
/// before the first '/'. What is of no layer is "outside".
std::map<std::string, Cycle> scope_bounds(const run::RunRecord& record) {
    const run::ProgramFacts& program = record.program;
    std::map<std::string, Cycle> cycles;
    const std::size_t tags = std::max(program.layers.size() + 1, program.tags.size());
    for (std::size_t i = 0; i < tags; ++i) {
        const auto tag = static_cast<run::Tag>(i);
        const bool is_layer = i > 0 && i <= program.layers.size();
        const std::string name = is_layer ? program.layers[i - 1].name : std::string("outside");
        const machine::Bound* const largest = report::largest_bound(record.bounds, tag);
        cycles[name.substr(0, name.find('/'))] += largest == nullptr ? 0 : largest->value(tag);
    }
    return cycles;
}

}  // namespace

nlohmann::ordered_json run_numbers(const run::RunRecord& record, bool with_layers) {
    nlohmann::ordered_json numbers = report::make_report(record, {.with_layers = with_layers});
    const run::Phases& phases = record.phases.value();
    const Cycle tail = record.cycles - std::min(record.cycles, phases.last_result);
    numbers["phases"] = {{"host_only_cycles", phases.head + tail}, {"fetch_cycles", nullptr}};
    if (phases.first_fetch) numbers["phases"]["fetch_cycles"] = phases.last_tile - *phases.first_fetch;
    numbers["weight_tile_bytes"] = record.program.tile_bytes;
    numbers["network_macs"] = record.network.value().macs() * record.program.inferences;
    numbers["weight_waits"] = weight_waits(record);
    numbers["scope_bounds"] = scope_bounds(record);
    return numbers;
}

Runs::Runs(const Setup& setup, Simulate simulate)
    : setup_(setup),
      simulate_(std::move(simulate)),
      metrics_(setup.target.metrics, setup.file),
      common_metrics_({}, setup.file),
      made_(std::make_unique<run::ScratchFolder>()),
      names_layers_(std::ranges::any_of(setup.target.metrics, [](const sweep::Metric& metric) {
          return metric.formula.find("layers.") != std::string::npos;
      })) {}

run::RunSpec Runs::spec(const std::string& model, Formulas& formulas) const {
    const std::uint32_t inferences = batch_of(setup_, model, formulas);
    run::RunSpec spec;
    spec.network = setup_.models.at(model);
    spec.compiler = {.batch = inferences, .limit = inferences, .mapping = setup_.target.mapping};
    if (const std::string& training = setup_.target.models.at(model).training; !training.empty()) {
        spec.state = run::read_training(setup_.beside.find(training, "models")).state;
    }
    spec.timing_only = true;
    spec.observed.phases = true;
    return spec;
}

const machine::MachineConfig& Runs::machine_named(const std::string& name, Formulas& formulas) {
    if (name.empty() || name == setup_.target.machine) return setup_.machine;
    const auto found = machines_.find(name);
    if (found != machines_.end()) return found->second;
    const machine::MachineConfig read = machine::read_machine(setup_.beside.find(name, "machines"));
    return machines_.emplace(name, changed(read, setup_.target.set_all, formulas, setup_.file + ": set_all"))
        .first->second;
}

run::Feeding Runs::feeding_of(const std::string& name, const RunSet& run, const std::string& model,
                              Formulas& formulas) const {
    run::Feeding feeding;
    if (run.feeding.empty()) return feeding;
    const std::string place = fmt::format("{}: runs.{}", setup_.file, name);
    nlohmann::json keys = run.feeding;
    for (auto& [key, value] : keys.items()) {
        if (!value.is_string()) continue;
        const std::string formula = value.get<std::string>();
        const std::string here = fmt::format("{}.feeding.{}", place, key);
        const Number number = formulas.value(formula, model, here);
        if (!number) {
            throw machine::ConfigError(
                fmt::format("{} is \"{}\"; it has no value for {}", here, formula, model));
        }
        // A count is written as one.
        value = *number;
        if (*number == std::floor(*number)) value = static_cast<std::int64_t>(*number);
    }
    machine::ConfigReader reader(keys, place, "feeding");
    describe(reader, feeding);
    reader.check_keys();
    feeding.validate(place);
    return feeding;
}

void Runs::add_wanted(const std::string& name, const RunSet& run, const machine::MachineConfig& machine,
                      const MachineChanges& further, Formulas& formulas, std::vector<Wanted>& to) const {
    std::vector<std::string> models = run.of;
    if (models.empty()) {
        for (const Element& workload : setup_.target.lists.at("workloads")) models.push_back(workload.name);
    }
    for (const std::string& model : models) {
        Wanted& wanted = to.emplace_back(
            Wanted{name, model, spec(model, formulas), feeding_of(name, run, model, formulas)});
        const machine::MachineConfig of_run =
            changed(machine, run.set, formulas, fmt::format("{}: runs.{}.set", setup_.file, name), model);
        wanted.spec.machine = changed(changed(of_run, further, formulas, setup_.file + ": fit"),
                                      setup_.target.models.at(model).set, formulas,
                                      fmt::format("{}: models.{}.set", setup_.file, model));
        run::CompilerOptions& compiler = wanted.spec.compiler;
        if (run.mapping_name) compiler.mapping = machine::mapping_named(*run.mapping_name);
        compiler.mapping = with(compiler.mapping, run.mapping, fmt::format("{}: runs.{}", setup_.file, name));
        wanted.has_metrics = run.has_metrics;
        wanted.batches = run.batches == 0 ? setup_.target.batches : run.batches;
        compiler.limit = std::uint64_t{compiler.batch} * wanted.batches;
        if (std::ranges::count(run.eight_bits, model) > 0) wanted.spec.network = with_8_bits(model);
    }
    for (const std::string& model : run.eight_bits) {
        if (std::ranges::count(models, model) > 0) continue;
        throw machine::ConfigError(
            fmt::format("{}: runs.{}.eight_bits: {} is none of its models", setup_.file, name, model));
    }
}

run::Content Runs::with_8_bits(const std::string& model) const {
    constexpr const char* bits = "activation_bits";
    const std::string& file = setup_.models.at(model).path.text;
    nlohmann::json network = machine::read_json_object(file);
    if (!network.contains("name") || !network.contains("layers")) {
        throw machine::ConfigError(file + ": it is no graph file, whose activations could have other bits");
    }
    network[bits] = 8;
    for (nlohmann::json& layer : network.at("layers")) {
        if (layer.contains(bits)) layer[bits] = 8;
    }
    return made_->add(network.at("name").get<std::string>() + ".json", network.dump());
}

std::vector<std::pair<std::string, Number>> Runs::metrics_of(const run::RunRecord& record,
                                                             bool with_own) const {
    const sweep::Metrics& all = with_own ? metrics_ : common_metrics_;
    const std::vector<Number> values = all.values_of(run_numbers(record, names_layers_));
    std::vector<std::pair<std::string, Number>> metrics;
    for (std::size_t i = 0; i < values.size(); ++i) metrics.emplace_back(all.all()[i].name, values[i]);
    return metrics;
}

void Runs::simulate(std::span<const Wanted> wanted,
                    const std::function<void(const Wanted&, const run::RunRecord&)>& use) const {
    // Records are large, and each worker is a copy of this process: a part at a time.
    constexpr std::size_t part = 64;
    for (; wanted.size() > part; wanted = wanted.subspan(part)) simulate(wanted.first(part), use);
    std::vector<run::RunSpec> specs;
    for (const Wanted& each : wanted) {
        specs.push_back(each.spec);
        if (each.batches == 1) continue;
        specs.push_back(each.spec);
        specs.back().compiler.limit -= each.spec.compiler.batch;
    }
    const std::vector<run::RunRecord> records = simulate_(specs);
    auto next = records.begin();
    for (const Wanted& each : wanted) {
        run::RunRecord record = *next++;
        if (each.batches > 1) record = difference(std::move(record), *next++);
        record.spec.feeding = each.feeding;
        use(each, record);
    }
}

void Runs::simulate(std::span<const Wanted> wanted, Formulas& formulas) const {
    simulate(wanted, [&](const Wanted& each, const run::RunRecord& record) {
        for (const auto& [metric, number] : metrics_of(record, each.has_metrics)) {
            formulas.know(fmt::format("{}.{}.{}", each.run, metric, each.model), number);
        }
    });
}

std::vector<FitNumbers> Runs::tried(const std::vector<FitRun>& trials, Formulas& formulas) {
    std::vector<Wanted> wanted;
    for (const FitRun& trial : trials) {
        RunSet run = trial.run.empty() ? RunSet{} : setup_.target.runs.at(trial.run);
        run.of = {trial.model};
        std::erase_if(run.eight_bits, [&](const std::string& model) { return model != trial.model; });
        add_wanted(trial.run, run, machine_named(run.machine, formulas), trial.changes, formulas, wanted);
    }
    std::vector<FitNumbers> all;
    simulate(wanted, [&](const Wanted& each, const run::RunRecord& record) {
        FitNumbers& numbers = all.emplace_back(flattened(machine::to_json(each.spec.machine), "machine."));
        for (const auto& [metric, number] : metrics_of(record)) numbers["trial." + metric] = number;
    });
    return all;
}

void Runs::need(const std::set<std::string>& names, Formulas& formulas) {
    std::vector<Wanted> wanted;
    for (const std::string& name : names) {
        const auto run = setup_.target.runs.find(name.substr(0, name.find('.')));
        if (run == setup_.target.runs.end() || !done_.insert(run->first).second) continue;
        add_wanted(run->first, run->second, machine_named(run->second.machine, formulas), {}, formulas,
                   wanted);
    }
    simulate(wanted, formulas);
}

void Runs::run_on(const machine::MachineConfig& machine, const std::vector<std::string>& runs,
                  Formulas& formulas) {
    std::vector<Wanted> wanted;
    for (const std::string& name : runs) {
        const auto run = setup_.target.runs.find(name);
        if (run == setup_.target.runs.end()) {
            throw machine::ConfigError(fmt::format("{}: {} is none of the runs", setup_.file, name));
        }
        if (!run->second.machine.empty()) {
            throw machine::ConfigError(fmt::format(
                "{}: runs.{} has a machine of its own; here it runs on another", setup_.file, name));
        }
        add_wanted(name, run->second, machine, {}, formulas, wanted);
    }
    simulate(wanted, formulas);
}

}  // namespace systole::validate
