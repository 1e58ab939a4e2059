// Makes report.json from the record of a run. Other programs read its keys, so no key changes its name.

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/arithmetic.h"
#include "sim/view/report/batching.h"
#include "sim/view/report/figures.h"
#include "sim/view/report/json_values.h"
#include "sim/view/report/main_unit.h"
#include "sim/view/report/repeated_layers.h"
#include "sim/view/report/sections.h"

namespace systole::report {
namespace {

/// Whole numbers of integer types, real numbers of float32.
Json json_values(const run::BufferContents& buffer) {
    Json values = Json::array();
    const bool is_real = buffer.type == name_of(DataType::Float32);
    for (const double value : buffer.values) {
        values.push_back(is_real ? Json(value) : Json(static_cast<std::int64_t>(value)));
    }
    return values;
}

std::uint64_t batches_of(const run::ProgramFacts& program) {
    return program.batch > 0 ? divide_up(program.inferences, program.batch) : 0;
}

std::optional<baselines::Baseline> host_of(const run::RunRecord& record) {
    if (!record.spec.host) return std::nullopt;
    return baselines::read_baseline(nlohmann::json(*record.spec.host), "host");
}

std::optional<double> inferences_per_second(const Basis& basis) {
    const std::uint64_t inferences = basis.record.program.inferences;
    if (!basis.no_speed.empty() || inferences == 0) return std::nullopt;
    return ratio(static_cast<double>(inferences), basis.seconds);
}

std::optional<BatchSeconds> latency_of(const Basis& basis) {
    if (!basis.no_speed.empty()) return std::nullopt;
    return batch_seconds(basis.record);
}

/// The parts of a class: the reasons for it, or the kinds of work.
Json cycle_parts(const machine::MainUnit& main, const run::Counters& counters) {
    Json parts = Json::array();
    for (const std::string& group : main.groups) {
        for (const run::Counter& counter : counters.of(group)) {
            if (!counter.name().ends_with("_cycles")) continue;
            const machine::CyclePart words = part_words(main, counter);
            parts.push_back({{"key", counter.name()}, {"name", words.name}, {"meaning", words.meaning}});
        }
    }
    return parts;
}

/// Which classes the main unit's cycles have, for pages that know none of them by name.
Json cycle_classes(const machine::UnitDescription& unit, const run::Counters& counters) {
    const machine::MainUnit& main = *unit.main;
    const auto name_of = [](const std::string& path) { return path.substr(path.rfind('.') + 1); };
    return {{"unit", unit.name},
            {"words", main.words},
            {"cells", main.cells},
            {"useful_macs", main.useful_macs.substr(unit.name.size() + 1)},
            {"unused_macs", main.unused_macs.substr(unit.name.size() + 1)},
            {"products", name_of(main.products)},
            {"divided", name_of(main.divided)},
            {"parts_words", main.parts_words},
            {"parts", cycle_parts(main, counters)},
            {"classes", list_of(main.classes, [&](const machine::CycleClass& each) {
                 return Json{{"key", name_of(each.counter)},
                             {"name", each.name},
                             {"column", each.column},
                             {"meaning", each.meaning}};
             })}};
}

Json picture(const run::Picture& picture) {
    Json object{{"index", picture.index}, {"prediction", picture.prediction}};
    if (picture.label) object["label"] = *picture.label;
    if (picture.probability) object["probability"] = *picture.probability;
    object["pixels"] = to_base64(picture.pixels);
    return object;
}

Json pictures(const run::Pictures& pictures) {
    return {{"height", pictures.height},
            {"width", pictures.width},
            {"channels", pictures.channels},
            {"left_out", pictures.left_out},
            {"pictures", list_of(pictures.pictures, picture)}};
}

/// The best classes of the first inferences, where classes have names.
Json best_classes(const run::RunRecord& record) {
    const char* const score = record.program.has_host_operations ? "probability" : "score";
    return list_of(record.answers.best_classes, [&](const run::BestClasses& best) {
        return list_of(best.classes, [&](const run::ClassScore& one) -> Json {
            return {{"class", one.number}, {"name", one.name}, {score, one.score}};
        });
    });
}

Json layer_accuracy(const run::LayerAccuracy& layer) {
    return {{"name", layer.name},
            {"kind", layer.kind},
            {"decibels", or_null(layer.decibels)},
            {"lost_decibels", or_null(layer.lost)},
            {"numbers", layer.numbers},
            {"clipped", layer.clipped}};
}

/// Numbers that JSON does not have are null.
Json shown_output(const run::ShownOutput& output) {
    return {{"name", output.name},
            {"type", name_of(output.type)},
            {"shape", output.shape},
            {"first", output.first}};
}

void add_answers(Json& json, const run::RunRecord& record) {
    const run::Answers& answers = record.answers;
    if (!answers.shown_outputs.empty()) json["first_outputs"] = list_of(answers.shown_outputs, shown_output);
    json["predictions"] = answers.outputs ? Json(answers.outputs->predictions) : Json::array();
    if (answers.outputs && !answers.best_classes.empty()) json["best_classes"] = best_classes(record);
    if (answers.outputs && !record.pictures.pictures.empty()) json["pictures"] = pictures(record.pictures);
    json["accuracy"] = or_null(answers.accuracy);
    json["float_reference"] = {{"accuracy", or_null(answers.float_accuracy)},
                               {"agreements", or_null(answers.float_agreements)}};
    if (!answers.layer_accuracy.empty()) {
        json["accuracy_by_layer"] = list_of(answers.layer_accuracy, layer_accuracy);
    }
}

/// Why there is no figure where a run asks for one: each a line, absent where there is one, or nobody asks.
Json left_out(const Basis& basis, const Json& report) {
    const run::RunRecord& record = basis.record;
    Json object = Json::object();
    if (!basis.no_speed.empty()) object["speed"] = basis.no_speed;
    const auto why = [&](const std::string& else_why) {
        return basis.no_speed.empty() ? else_why : basis.no_speed;
    };
    if (report["requests"].is_null() && asks_for_requests(record)) {
        object["requests"] = why("the run has no time of a batch");
    }
    if (record.spec.feeding.is_given() && report["feeding"].is_null())
        object["feeding"] = why("the run has no time of a batch");
    if (report["comparison"].empty() && !record.spec.baselines.empty()) {
        object["comparison"] =
            why(record.program.inferences == 0
                    ? "the program states no inferences"
                    : "the network has no multiply-accumulates, by which baselines are compared");
    }
    return object;
}

void add_host(Json& json, const Basis& basis) {
    json["host_operations"] = host_operations_json(basis.record);
    Json repeated = repeated_host_work_json(json["host_operations"]);
    if (!repeated.empty()) json["repeated_host_work"] = std::move(repeated);
    json["host_seconds"] = nullptr;
    json["host"] = nullptr;
    if (basis.host) {
        double seconds = 0.0;
        for (const Json& each : json["host_operations"]) seconds += each["seconds"].get<double>();
        json["host_seconds"] = seconds;
        json["host"] = basis.host->name;
    }
    // Without an efficiency of the host, its time is a lower bound.
    json["host_at_least"] = basis.host && !basis.host->efficiency.known();
    if (basis.host && !basis.host->efficiency.known_of.empty()) {
        json["host_known_of"] = basis.host->efficiency.known_of;
    }
}

Json instruction(const run::InstructionLine& line) {
    return {{"number", line.number},
            {"repetition", line.repetition},
            {"unit", line.unit},
            {"issued", or_null(line.issued)},
            {"begun", or_null(line.begun)},
            {"released", or_null(line.released)},
            {"complete", or_null(line.complete)},
            {"text", line.text}};
}

/// What the program is made of, and what was asked to be shown of it.
void add_program(Json& json, const run::RunRecord& record) {
    json["instructions"] = record.program.instructions;
    if (!record.instruction_times.empty()) {
        json["instruction_times"] = instruction_times_json(record.instruction_times);
    }
    if (!record.registers.cycles.empty()) json["registers"] = registers_json(record.registers);
    if (!record.printed.empty()) {
        json["buffers"] = list_of(record.printed, [](const run::BufferContents& each) {
            return Json{{"name", each.name}, {"type", each.type}, {"values", json_values(each)}};
        });
    }
    json["unfilled_buffers"] = record.unfilled_buffers;
    if (!record.pixel_scaling.empty()) {
        json["pixel_scaling"] = list_of(record.pixel_scaling, [](const run::PixelScaling& each) {
            return Json{{"input", each.input}, {"layer", each.layer}};
        });
    }
}

/// How many tokens or steps the first input has, and what that makes a second.
Json sequence_json(const Basis& basis) {
    const run::SequenceFacts& sequence = *basis.record.program.sequence;
    std::optional<double> rate = basis.inferences_per_second;
    if (rate) *rate *= static_cast<double>(sequence.length);
    return {{"unit", sequence.unit}, {"length", sequence.length}, {"per_second", or_null(rate)}};
}

/// How fast the simulator itself ran. The only part of a report that differs between equal runs.
Json simulator(const run::RunRecord& record) {
    const run::Speed& speed = record.speed;
    const std::uint64_t macs = record.counters.at(record.main_unit().main->macs).value();
    const std::optional<double> macs_per_second =
        record.spec.timing_only ? std::nullopt : ratio(static_cast<double>(macs), speed.total);
    Json object{
        {"wall_seconds", speed.total},
        {"simulated_cycles_per_second", or_null(ratio(static_cast<double>(record.cycles), speed.total))},
        {"macs_per_second", or_null(macs_per_second)},
        {"peak_rss_bytes", speed.peak_rss_bytes},
        {"read_seconds", speed.read},  // the file of the network or program, a part of prepare_seconds
        {"prepare_seconds", speed.prepare},
        {"simulate_seconds", speed.simulate}};
    if (speed.gemm) object["gemm_seconds"] = *speed.gemm;
    return object;
}

/// The cores, and what those of a chip share, with their counters. Those that are alike are one entry.
Json parts_json(const run::RunRecord& record) {
    std::vector<std::pair<run::MachinePart, std::vector<std::string>>> alike;
    for (const run::MachinePart& part : record.parts) {
        run::MachinePart unnamed = part;
        unnamed.name.clear();
        const auto same = std::ranges::find(alike, unnamed, [](const auto& each) { return each.first; });
        if (same == alike.end()) {
            alike.emplace_back(std::move(unnamed), std::vector{part.name});
        } else {
            same->second.push_back(part.name);
        }
    }
    return list_of(alike, [](const auto& each) {
        Json object{{"names", each.second}, {"cycles", or_null(each.first.cycles)}};
        for (const run::PartCount& count : each.first.counts) {
            const std::size_t dot = count.path.rfind('.');
            object["units"][count.path.substr(0, dot)][count.path.substr(dot + 1)] = count.total;
        }
        return object;
    });
}

Json effective_configuration(const run::RunRecord& record) {
    return {{"run", record.spec.labels.run},
            {"machine", machine::to_json(record.spec.machine)},
            {"baselines", record.spec.baselines}};
}

}  // namespace

std::optional<BatchSeconds> batch_seconds(const run::RunRecord& record) {
    const std::uint64_t batches = batches_of(record.program);
    if (!record.latency || batches == 0) return std::nullopt;
    const auto seconds = [&](Cycle cycles) { return seconds_of(cycles, record.spec.machine); };
    const auto count = static_cast<double>(batches);
    const run::BatchLatency& latency = *record.latency;
    const Cycle alone = latency.alone.value_or(latency.sum / batches);
    BatchSeconds batch{.interval = seconds(record.cycles) / count,
                       .latency = seconds(latency.sum) / count,
                       .largest = seconds(latency.largest),
                       .first = seconds(latency.first),
                       .alone = seconds(alone),
                       .followed = seconds(alone),
                       .full_interval = seconds(alone)};
    if (latency.intervals == 0) return batch;
    batch.followed = seconds(std::max(latency.first, alone));
    batch.full_interval = seconds(latency.between) / static_cast<double>(latency.intervals);
    return batch;
}

Json instruction_times_json(std::span<const run::InstructionLine> lines) {
    return list_of(lines, instruction);
}

Json registers_json(const run::RegisterDump& dump) {
    const auto cycle = [](const run::CycleRegisters& each) -> Json {
        return {{"cycle", each.cycle},
                {"activations", each.activations},
                {"weights", each.weights},
                {"shadow_weights", each.shadow_weights},
                {"partial_sums", each.partial_sums}};
    };
    return {{"rows", dump.rows}, {"columns", dump.columns}, {"cycles", list_of(dump.cycles, cycle)}};
}

Json cores_alike_json(const run::RunRecord& record) {
    return list_of(record.cores_alike, [&](const run::CoresAlike& group) {
        Json names = Json::array();
        for (const std::uint32_t core : group.cores) names.push_back(record.spec.machine.core_name(core));
        Json object{{"names", std::move(names)}};
        if (!group.instruction_times.empty()) {
            object["instruction_times"] = instruction_times_json(group.instruction_times);
        }
        if (group.occupancy) object["memory"] = occupancy_json(record, *group.occupancy);
        return object;
    });
}

Basis::Basis(const run::RunRecord& of_run)
    : record(of_run),
      machine(record.spec.machine),
      main(record.main_unit()),
      parts(parts_of(machine.family)),
      seconds(record.seconds()),
      batches(batches_of(record.program)),
      host(host_of(record)),
      host_share(host_share_json(record)),
      no_speed(why_no_speed(record, host_share)),
      inferences_per_second(report::inferences_per_second(*this)),
      latency(latency_of(*this)) {}

Json make_report(const run::RunRecord& record, const ReportOptions& options) {
    const Basis basis(record);
    const run::ProgramFacts& program = record.program;
    const machine::MachineConfig& machine = basis.machine;
    Json json;
    // Of a figure that the list computes, its place is here; others stand behind those of their section.
    const auto add_figure = [&](const char* key) { json[key] = figure_named(key).compute(basis); };
    json["schema"] = "sim.report/1";
    json["machine"] = machine.name;
    json["model"] = program.model;
    json["batch"] = program.batch;
    json["inferences"] = program.inferences;
    if (record.batch && basis.parts.batching) {
        json["batching"] = to_json(make_batching(program.batch, *record.batch));
    }
    json["cycles"] = record.cycles;
    if (machine.cores() > 1) json["cores"] = machine.cores();
    if (machine.arrays() > 1) json["arrays"] = machine.arrays();
    json["seconds"] = basis.seconds;
    json["inferences_per_second"] = or_null(basis.inferences_per_second);
    if (program.sequence) json["sequence"] = sequence_json(basis);
    add_figure("seconds_per_batch");
    const std::optional<double> interval = number_at(json, "seconds_per_batch");
    json["interval_ms"] = interval ? Json(milliseconds * *interval) : Json(nullptr);
    add_figure("latency_ms");
    add_figure("latency_max_ms");
    const std::optional<double> achieved =
        basis.no_speed.empty() ? tops(record.needed_macs(), basis.seconds) : std::nullopt;
    json["tops"] = {{"achieved", or_null(achieved)}, {"peak", machine.peak_ops_per_second() / 1e12}};
    if (basis.parts.weight_memory) {
        json["roofline"] = roofline_json(machine, record.needed_macs(), weight_bytes(record, std::nullopt));
    }
    if (basis.parts.names_classes) json["cycle_classes"] = cycle_classes(basis.main, record.counters);
    json[basis.main.name] = to_json(main_unit(basis.main, record.counters, std::nullopt));
    json["bounds"] = bounds_json(basis);
    const Json paths = paths_json(record);
    json["traffic"] = traffic_json(record, paths);
    json["paths"] = paths;
    json["drawing"] = drawing_json(record);
    json["memory"] = memory_json(basis);
    json["layers"] = options.with_layers ? layers_json(basis, options.explanations) : Json::array();
    Json repeated = repeated_layers_json(json["layers"], record.bounds);
    if (!repeated.empty()) json["repeated_layers"] = std::move(repeated);
    if (options.explanations != nullptr) json["explanation"] = to_json(*options.explanations);
    json["instruction_kinds"] = instruction_kinds_json(basis);
    json["energy"] = energy_json(basis);
    json["area"] = area_json(record);
    json["requests"] = basis.latency ? requests_json(record, *basis.latency) : Json(nullptr);
    auto [host_time, comparison] = comparison_json(basis);
    json["host_time"] = std::move(host_time);
    json["comparison"] = std::move(comparison);
    if (basis.parts.claim) json["claim"] = claim_json(json, machine.macs_a_cycle());
    if (basis.parts.calls) json["call"] = call_json(basis, json);
    add_answers(json, record);
    if (record.training) json["training"] = training_json(basis);
    if (record.step) json["step"] = step_json(basis);
    if (record.spec.feeding.is_given()) json["feeding"] = feeding_json(basis);
    json["timing_only"] = record.spec.timing_only;
    json["host_share"] = basis.host_share;
    json["left_out"] = left_out(basis, json);
    add_host(json, basis);
    add_program(json, record);
    for (const run::Counter& counter : record.counters.all) {
        json["units"][std::string(counter.group())][std::string(counter.name())] = counter.value();
    }
    if (!record.parts.empty()) json["parts"] = parts_json(record);
    if (!record.cores_alike.empty()) json["cores_alike"] = cores_alike_json(record);
    json["simulator"] = simulator(record);
    json["configuration"] = effective_configuration(record);
    for (const Figure& figure : figures()) {
        if (figure.compute == nullptr || find_path(json, figure.key()) != nullptr) continue;
        place_at(json, figure.key(), figure.compute(basis));
    }
    return json;
}

}  // namespace systole::report
