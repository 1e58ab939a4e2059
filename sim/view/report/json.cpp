// Writes report.json. Other programs read its keys, so no key changes its name.
#include <algorithm>

#include "sim/view/report/figures.h"
#include "sim/view/report/json_values.h"
#include "sim/view/report/report.h"

namespace systole::report {
namespace {

using Json = nlohmann::ordered_json;

Json counters(const CounterValues& values) {
    Json object = Json::object();
    for (const auto& [name, value] : values) object[name] = value;
    return object;
}

Json main_unit(const MainUnit& unit) {
    Json object = counters(unit.counters);
    for (const MainGroup& group : unit.groups) object[group.name] = counters(group.counters);
    return object;
}

/// Which classes the main unit's cycles have, for pages that know none of them by name.
Json cycle_classes(const Report& report) {
    const machine::MainUnit& main = *report.main.main;
    const auto name_of = [](const std::string& path) { return path.substr(path.rfind('.') + 1); };
    return {{"unit", report.main.name},
            {"words", main.words},
            {"cells", main.cells},
            {"useful_macs", main.useful_macs.substr(report.main.name.size() + 1)},
            {"unused_macs", main.unused_macs.substr(report.main.name.size() + 1)},
            {"classes", list_of(main.classes, [&](const machine::CycleClass& each) {
                 return Json{{"key", name_of(each.counter)},
                             {"name", each.name},
                             {"column", each.column},
                             {"meaning", each.meaning}};
             })}};
}

Json by_unit(const energy::Joules& joules) {
    Json object = Json::object();
    for (std::size_t i = 0; i < joules.size(); ++i) object[joules.name(i)] = joules[i];
    return object;
}

Json roofline(const std::optional<Roofline>& roofline) {
    if (!roofline) return nullptr;
    return {{"macs_per_weight_byte", roofline->macs_per_weight_byte},
            {"ridge_macs_per_weight_byte", roofline->ridge},
            {"bound_tops", roofline->bound_tops},
            {"peak_tops", roofline->peak_tops}};
}

Json bounds(const Bounds& bounds) {
    Json object = Json::object();
    for (const LeastCycles& each : bounds.least) object[each.name] = each.cycles;
    object["ratio"] = or_null(bounds.ratio);
    object["fill"] = or_null(bounds.fill);
    return object;
}

Json layer(const Layer& layer, const Report& report) {
    Json object{{"name", layer.name},
                {"kind", layer.kind},
                {"cycles", layer.main_unit.cycles()},
                {"share", or_null(layer.share)},
                {"array_utilization", or_null(layer.array_utilization)},
                {"macs_per_inference", layer.macs_per_inference},
                {"weight_bytes", layer.weight_bytes},
                {"achieved_tops", or_null(layer.achieved_tops)}};
    if (report.parts.weight_memory) object["roofline"] = roofline(layer.roofline);
    object["bounds"] = bounds(layer.bounds);
    object[report.main.name] = main_unit(layer.main_unit);
    if (layer.energy) {
        object["energy"] = {{"joules", layer.energy->total()},
                            {"static_joules", layer.energy->of_static_power()},
                            {"dynamic_joules", layer.energy->dynamic()},
                            {"by_unit", by_unit(*layer.energy)}};
    } else {
        object["energy"] = nullptr;
    }
    return object;
}

Json traffic(const std::vector<Traffic>& paths) {
    Json object = Json::object();
    for (const Traffic& path : paths) object[path.path + "_bytes"] = path.bytes;
    for (const Traffic& path : paths) object[path.path + "_utilization"] = or_null(path.utilization);
    return object;
}

Json power_over_time(const energy::PowerOverTime& power) {
    Json watts = Json::object();
    for (std::size_t window = 0; window < power.windows.size(); ++window) {
        const energy::Joules& joules = power.windows[window];
        for (std::size_t i = 0; i < joules.size(); ++i) {
            watts[joules.name(i)].push_back(joules[i] / power.seconds[window]);
        }
    }
    return {{"window_cycles", power.window_cycles}, {"watts", std::move(watts)}};
}

Json energy(const std::optional<Energy>& energy, const std::optional<std::string>& no_energy) {
    if (!energy) {
        // The keys that a machine with energy has: formulas of studies then have no value, and are no error.
        return {{"joules", nullptr},
                {"joules_per_inference", nullptr},
                {"watts", nullptr},
                {"by_unit", nullptr},
                {"static_joules", nullptr},
                {"dynamic_joules", nullptr},
                {"static_watts", nullptr},
                {"voltage", nullptr},
                {"notes", no_energy ? Json::array({*no_energy}) : Json::array()},
                {"die_watts", nullptr},
                {"published_busy_watts", nullptr},
                {"die_dynamic_factor", nullptr},
                {"uncalibrated", nullptr}};
    }
    const auto known = [&](double of_parts) { return energy->knows_static ? Json(of_parts) : Json(nullptr); };
    Json object{{"joules", energy->joules()},
                {"joules_per_inference", or_null(energy->joules_per_inference)},
                {"watts", or_null(energy->watts)},
                {"by_unit", Json::object()},
                {"static_joules", known(energy->static_joules)},
                {"dynamic_joules", known(energy->dynamic_joules)},
                {"static_watts", known(energy->static_watts)},
                {"voltage", energy->voltage},
                {"notes", energy->notes}};
    for (const auto& [unit, joules] : energy->by_unit) object["by_unit"][unit] = joules;
    if (const auto& events = energy->events) {
        object["die_watts"] = or_null(events->die_watts);
        object["published_busy_watts"] =
            events->published_watts > 0.0 ? Json(events->published_watts) : Json(nullptr);
        if (const auto& calibration = events->calibration) {
            object["die_dynamic_factor"] = calibration->die_dynamic_factor;
            object["uncalibrated"] = {{"joules", calibration->uncalibrated_joules},
                                      {"die_watts", or_null(calibration->uncalibrated_die_watts)}};
        }
        if (events->over_time) object["power_over_time"] = power_over_time(*events->over_time);
    }
    return object;
}

Json area(const std::optional<area::Area>& area) {
    if (!area) return nullptr;
    const auto estimate = [](const area::Estimate& mm2) {
        return Json{{"mm2", mm2.nominal}, {"mm2_low", mm2.low}, {"mm2_high", mm2.high}};
    };
    Json object = estimate(area->die);
    object["process_nm"] = area->process_nm;
    object["by_unit"] = Json::object();
    for (const area::UnitArea& unit : area->units) object["by_unit"][unit.name] = estimate(unit.mm2);
    return object;
}

Json comparison_with(const ComparisonWith& other) {
    return {{"inferences_per_second", other.inferences_per_second},
            {"speedup", other.speedup},
            {"performance_per_watt", to_json(other.performance_per_watt)},
            {"band",
             {{"inferences_per_second", band_json(other.inferences_per_second, other.band)},
              {"speedup", band_json(other.speedup, other.ratio_band)},
              {"performance_per_watt", band_json(other.performance_per_watt, other.ratio_band)}}}};
}

Json host_time(const HostTime& host) {
    Json percent = nullptr;
    if (host.percent) {
        percent = {{"typical", host.percent->typical},
                   {"least", host.percent->least},
                   {"most", host.percent->most},
                   {"source", host.source}};
    }
    return {{"text", host_time_text(host)},
            {"in_chip", host.in_chip()},
            {"in_baselines", host.in_baselines},
            {"percent", percent},
            {"inferences_per_second", host.inferences_per_second},
            {"band", {{"inferences_per_second", band_json(host.inferences_per_second, host.band)}}}};
}

Json expected(const std::optional<ComparisonExpected>& expected) {
    if (!expected) return nullptr;
    const baselines::Expected& model = expected->model;
    const baselines::Efficiency& efficiency = expected->efficiency;
    Json json = comparison_with(*expected);
    json["batch"] = model.batch;
    json["seconds_per_batch"] = model.seconds;
    json["tops"] = model.tops;
    json["seconds"] = {{"compute", model.compute_seconds},
                       {"memory", model.memory_seconds},
                       {"layers", model.layer_seconds}};
    json["latency_seconds"] = or_null(model.latency_seconds);
    json["efficiency"] = {
        {"precision", baselines::precision_names[static_cast<std::size_t>(efficiency.precision)]},
        {"peak_share", efficiency.peak_share},
        {"memory_share", efficiency.memory_share},
        {"layer_microseconds", efficiency.layer_microseconds},
        {"least_factor", expected->band ? Json(expected->band->least) : Json(nullptr)},
        {"most_factor", expected->band ? Json(expected->band->most) : Json(nullptr)}};
    return json;
}

Json measured(const std::optional<ComparisonMeasured>& measured) {
    if (!measured) return nullptr;
    return {{"fp32", comparison_with(measured->fp32)}, {"int8", comparison_with(measured->int8)}};
}

Json comparison(const Comparison& comparison) {
    return {{"baseline", comparison.baseline},
            {"inferences_per_second", comparison.inferences_per_second},
            {"watts", comparison.watts > 0.0 ? Json(comparison.watts) : Json(nullptr)},
            {"speedup", comparison.speedup},
            {"performance_per_watt", to_json(comparison.performance_per_watt)},
            {"band",
             {{"speedup", band_json(comparison.speedup, comparison.ratio_band)},
              {"performance_per_watt", band_json(comparison.performance_per_watt, comparison.ratio_band)}}},
            {"host_time", comparison.host_time},
            {"joules_per_inference", or_null(comparison.joules_per_inference)},
            {"estimate", "upper bound: fp32 roofline of one die"},
            {"bound", comparison.memory_bound ? "memory" : "compute"},
            {"roofline", roofline(comparison.roofline)},
            {"int8",
             {{"inferences_per_second", or_null(comparison.int8_inferences_per_second)},
              {"speedup", or_null(comparison.int8_speedup)},
              {"band", {{"speedup", band_json(comparison.int8_speedup, comparison.ratio_band)}}}}},
            {"expected", expected(comparison.expected)},
            {"measured", measured(comparison.measured)}};
}

Json instruction(const InstructionLine& line) {
    return {{"number", line.number},
            {"repetition", line.repetition},
            {"unit", line.unit},
            {"issued", or_null(line.issued)},
            {"begun", or_null(line.begun)},
            {"released", or_null(line.released)},
            {"complete", or_null(line.complete)},
            {"text", line.text}};
}

Json layer_accuracy(const run::LayerAccuracy& layer) {
    return {{"name", layer.name},
            {"kind", layer.kind},
            {"decibels", or_null(layer.decibels)},
            {"lost_decibels", or_null(layer.lost)},
            {"numbers", layer.numbers},
            {"clipped", layer.clipped}};
}

Json registers(const run::RegisterDump& dump) {
    const auto cycle = [](const run::CycleRegisters& each) -> Json {
        return {{"cycle", each.cycle},
                {"activations", each.activations},
                {"weights", each.weights},
                {"shadow_weights", each.shadow_weights},
                {"partial_sums", each.partial_sums}};
    };
    return {{"rows", dump.rows}, {"columns", dump.columns}, {"cycles", list_of(dump.cycles, cycle)}};
}

Json path(const Path& each) {
    return {{"from", each.path.from},
            {"to", each.path.to},
            {"moved", each.moved},
            {"unit", each.path.unit},
            {"utilization", or_null(each.utilization)}};
}

/// Where the box of a unit stands, and what stands in it.
Json box(const std::string& unit, const machine::Box& box) {
    const auto number = [](const machine::ShownNumber& shown) {
        return Json{{"number", shown.number}, {"format", shown.format}};
    };
    const auto line = [&](const machine::ShownLine& shown) {
        return Json{{"text", shown.text}, {"numbers", list_of(shown.numbers, number)}};
    };
    Json object{{"unit", unit},
                {"title", box.title},
                {"column", box.column},
                {"row", box.row},
                {"lines", list_of(box.lines, line)}};
    if (!box.busy_counter.empty()) object["busy"] = "units." + box.busy_counter;
    if (box.filled) object["filled"] = {{"used_bytes", box.filled->used_bytes}, {"bytes", box.filled->bytes}};
    object["word"] = box.word;
    return object;
}

/// How the page draws the machine; its paths move what `paths` says.
Json drawing(const Report& report) {
    Json boxes = Json::array();
    for (const machine::UnitDescription& unit : report.units_drawn) {
        if (unit.box) boxes.push_back(box(unit.name, *unit.box));
    }
    const auto route = [](const Path& each) {
        return Json{
            {"from", each.path.from},
            {"to", each.path.to},
            {"figures", machine::names_of(each.path.figures)[static_cast<std::size_t>(each.path.figures)]},
            {"shift", Json::array({each.path.shift_x, each.path.shift_y})}};
    };
    return {{"boxes", std::move(boxes)}, {"routes", list_of(report.paths, route)}};
}

Json memory_over_time(const MemoryOverTime& time) {
    Json object{{"window_cycles", time.window_cycles}};
    for (const OccupiedOverTime& each : time.memories) object[each.memory.figure] = each.most;
    object["memories"] = list_of(time.memories, [](const OccupiedOverTime& each) -> Json {
        return {{"title", each.memory.title},
                {"figure", each.memory.figure},
                {"unit", each.memory.unit},
                {"capacity", each.memory.capacity}};
    });
    return object;
}

Json memory_map(const MemoryMap& map) {
    const auto step = [](const occupancy::RowValue& each) -> Json {
        return {{"first_row", each.rows.first},
                {"rows", each.rows.count()},
                {"begin", each.begin},
                {"end", each.end}};
    };
    const auto value = [&](const BufferValue& each) -> Json {
        return {{"name", each.name}, {"steps", list_of(each.steps, step)}};
    };
    return {{"until", map.until},
            {"step_cycles", map.step_cycles},
            {"left_out", map.left_out},
            {"values", list_of(map.values, value)}};
}

Json memory(const Report& report) {
    Json object = Json::object();
    for (const machine::UnitDescription& unit : report.units_drawn) {
        if (!unit.box || !unit.box->filled) continue;
        const machine::Filled& filled = *unit.box->filled;
        object[unit.name + "_" + filled.figure + "_bytes"] = filled.used_bytes;
        object[unit.name + "_bytes"] = filled.bytes;
    }
    if (report.parts.weight_memory) object["spilled_weight_bytes"] = report.spilled_weight_bytes;
    if (report.cut_images) object["cut_images"] = to_json(*report.cut_images);
    if (report.memory_over_time) object["over_time"] = memory_over_time(*report.memory_over_time);
    for (const MemoryMap& map : report.memory_maps) object[map.figure] = memory_map(map);
    return object;
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

/// The best classes of one inference.
Json best_classes(const run::BestClasses& best, bool are_probabilities) {
    return list_of(best.classes, [&](const run::ClassScore& one) -> Json {
        return {{"class", one.number},
                {"name", one.name},
                {are_probabilities ? "probability" : "score", one.score}};
    });
}

Json explained(const Layer& each, const Report& report) {
    Json object = layer(each, report);
    const std::optional<Explanations>& explanations = report.explanations;
    if (!explanations || each.tag >= explanations->layers.size()) return object;
    const Json why = to_json(explanations->layers[each.tag], explanations->what_ifs);
    object["explanation"] = why["text"];
    object["what_if"] = why["what_if"];
    return object;
}

Json instruction_kind(const InstructionKind& kind, const Report& report) {
    return {{"instruction", kind.instruction},
            {"executed", kind.executed},
            {"cycles", kind.main_unit.cycles()},
            {report.main.name, main_unit(kind.main_unit)}};
}

Json host_operation(const HostOperation& operation) {
    Json object = {
        {"kind", operation.kind}, {"layer", operation.layer}, {"seconds", or_null(operation.seconds)}};
    if (!operation.is_segment()) return object;
    object["layers"] = operation.layers;
    object["share"] = or_null(operation.share);
    object["images"] = operation.images;
    return object;
}

Json host_share(const std::optional<HostShare>& share) {
    if (!share) return nullptr;
    Json layers = Json::array();
    for (const HostShare::Layer& layer : share->layers) {
        layers.push_back({{"name", layer.name}, {"macs_per_inference", layer.macs}});
    }
    return {{"layers", layers},
            {"macs_per_inference", share->macs},
            {"macs_share", share->macs_share},
            {"seconds", share->seconds},
            {"seconds_share", or_null(share->seconds_share)}};
}

Json left_out(const LeftOut& reasons) {
    Json object = Json::object();
    const auto add = [&](const char* key, const std::string& why) {
        if (!why.empty()) object[key] = why;
    };
    add("speed", reasons.speed);
    add("requests", reasons.requests);
    add("comparison", reasons.comparison);
    return object;
}

Json buffer(const run::BufferContents& buffer) {
    Json values = Json::array();
    const bool is_real = buffer.type == name_of(DataType::Float32);
    for (const double value : buffer.values) {
        values.push_back(is_real ? Json(value) : Json(static_cast<std::int64_t>(value)));
    }
    return {{"name", buffer.name}, {"type", buffer.type}, {"values", std::move(values)}};
}

Json::json_pointer pointer_of(std::string_view dotted) {
    std::string pointer = "/" + std::string(dotted);
    std::ranges::replace(pointer, '.', '/');
    return Json::json_pointer(pointer);
}

Json simulator(const Simulator& simulator) {
    Json object{{"wall_seconds", simulator.wall_seconds},
                {"simulated_cycles_per_second", or_null(simulator.simulated_cycles_per_second)},
                {"macs_per_second", or_null(simulator.macs_per_second)},
                {"peak_rss_bytes", simulator.peak_rss_bytes},
                {"read_seconds", simulator.read_seconds},
                {"prepare_seconds", simulator.prepare_seconds},
                {"simulate_seconds", simulator.simulate_seconds}};
    if (simulator.gemm_seconds) object["gemm_seconds"] = *simulator.gemm_seconds;
    return object;
}

}  // namespace

Json to_json(const Report& report) {
    Json json;
    json["schema"] = "sim.report/1";
    json["machine"] = report.machine;
    json["model"] = report.model;
    json["batch"] = report.batch;
    json["inferences"] = report.inferences;
    if (report.batching) json["batching"] = to_json(*report.batching);
    json["cycles"] = report.cycles;
    json["seconds"] = report.seconds;
    json["inferences_per_second"] = or_null(report.inferences_per_second);
    const Json interval = report.figure("seconds_per_batch");
    json["seconds_per_batch"] = interval;
    json["interval_ms"] = interval.is_number() ? Json(1e3 * interval.get<double>()) : Json(nullptr);
    json["latency_ms"] = report.figure("latency_ms");
    json["latency_max_ms"] = report.figure("latency_max_ms");
    json["tops"] = {{"achieved", or_null(report.achieved_tops)}, {"peak", report.peak_tops}};
    if (report.parts.weight_memory) json["roofline"] = roofline(report.roofline);
    if (report.parts.names_classes) json["cycle_classes"] = cycle_classes(report);
    json[report.main.name] = main_unit(report.main_unit);
    json["bounds"] = bounds(report.bounds);
    json["traffic"] = traffic(report.traffic);
    json["paths"] = list_of(report.paths, path);
    json["drawing"] = drawing(report);
    json["memory"] = memory(report);
    json["layers"] = list_of(report.layers, [&](const Layer& each) { return explained(each, report); });
    if (report.explanations) json["explanation"] = to_json(*report.explanations);
    json["instruction_kinds"] = list_of(report.instruction_kinds, [&](const InstructionKind& kind) {
        return instruction_kind(kind, report);
    });
    json["energy"] = energy(report.energy, report.no_energy);
    json["area"] = area(report.area);
    json["requests"] = requests_json(report.requests);
    json["host_time"] = report.comparison.empty() ? Json(nullptr) : host_time(report.host_time);
    json["comparison"] = list_of(report.comparison, comparison);
    if (report.parts.claim) json["claim"] = claim_json(report.claim);
    if (report.call) json["call"] = call_json(*report.call, report.model);
    json["predictions"] = report.predictions;
    if (!report.best_classes.empty()) {
        json["best_classes"] = list_of(report.best_classes, [&](const run::BestClasses& best) {
            return best_classes(best, report.are_probabilities);
        });
    }
    if (!report.pictures.pictures.empty()) json["pictures"] = pictures(report.pictures);
    json["accuracy"] = or_null(report.accuracy);
    json["float_reference"] = {{"accuracy", or_null(report.float_accuracy)},
                               {"agreements", or_null(report.float_agreements)}};
    if (!report.layer_accuracy.empty()) {
        json["accuracy_by_layer"] = list_of(report.layer_accuracy, layer_accuracy);
    }
    json["timing_only"] = report.timing_only;
    json["host_share"] = host_share(report.host_share);
    json["left_out"] = left_out(report.left_out);
    json["host_operations"] = list_of(report.host_operations, host_operation);
    json["host_seconds"] = or_null(report.host_seconds);
    json["host"] = report.host.empty() ? Json(nullptr) : Json(report.host);
    json["host_at_least"] = report.host_at_least;
    if (!report.host_known_of.empty()) json["host_known_of"] = report.host_known_of;
    json["instructions"] = report.instructions;
    if (!report.instruction_lines.empty()) {
        json["instruction_times"] = list_of(report.instruction_lines, instruction);
    }
    if (!report.registers.cycles.empty()) json["registers"] = registers(report.registers);
    if (!report.buffers.empty()) json["buffers"] = list_of(report.buffers, buffer);
    json["unfilled_buffers"] = report.unfilled_buffers;
    if (!report.pixel_scaling.empty()) {
        json["pixel_scaling"] = list_of(report.pixel_scaling, [](const run::PixelScaling& each) {
            return Json{{"input", each.input}, {"layer", each.layer}};
        });
    }
    for (const auto& [unit, values] : report.units) json["units"][unit] = counters(values);
    json["simulator"] = simulator(report.simulator);
    json["configuration"] = report.configuration;
    // A figure that has no place above stands behind the others of its section.
    for (const auto& [path, value] : report.figures) {
        if (find_path(json, path) == nullptr) json[pointer_of(path)] = value;
    }
    return json;
}

}  // namespace systole::report
