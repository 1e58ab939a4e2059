// Reads report.json and checks the keys that the page uses.
#include <fmt/format.h>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "hw/machine/main_units.h"
#include "sim/view/page/page.h"
#include "sim/view/report/figures.h"

namespace systole::page {
namespace {

using Json = nlohmann::ordered_json;

/// The kind of a value: its name in messages, and the check.
struct Kind {
    std::string_view rule;
    bool (*holds)(const Json& value);
};

namespace kinds {
constexpr Kind text{"a text", [](const Json& value) { return value.is_string(); }};
constexpr Kind count{"a whole number of at least 0",
                     [](const Json& value) { return value.is_number_unsigned(); }};
constexpr Kind number{"a number", [](const Json& value) { return value.is_number(); }};
constexpr Kind number_or_null{"a number or null",
                              [](const Json& value) { return value.is_number() || value.is_null(); }};
constexpr Kind flag{"true or false", [](const Json& value) { return value.is_boolean(); }};
constexpr Kind list{"a list", [](const Json& value) { return value.is_array(); }};
constexpr Kind object{"an object", [](const Json& value) { return value.is_object(); }};
constexpr Kind object_or_null{"an object or null",
                              [](const Json& value) { return value.is_object() || value.is_null(); }};
}  // namespace kinds

struct Key {
    std::string_view name;
    Kind kind;
};

/// The keys without which the page cannot be shown, besides those of figures.
constexpr std::array report_keys{
    Key{"machine", kinds::text},     Key{"model", kinds::text},          Key{"batch", kinds::count},
    Key{"tops", kinds::object},      Key{"traffic", kinds::object},      Key{"memory", kinds::object},
    Key{"layers", kinds::list},      Key{"energy", kinds::object},       Key{"comparison", kinds::list},
    Key{"predictions", kinds::list}, Key{"timing_only", kinds::flag},    Key{"host_operations", kinds::list},
    Key{"simulator", kinds::object}, Key{"configuration", kinds::object}};
constexpr std::array layer_keys{Key{"name", kinds::text}, Key{"kind", kinds::text},
                                Key{"cycles", kinds::count}, Key{"share", kinds::number_or_null}};
constexpr std::array repeated_layers_keys{Key{"name", kinds::text},         Key{"first", kinds::count},
                                          Key{"layers", kinds::count},      Key{"count", kinds::count},
                                          Key{"cycles", kinds::count},      Key{"least_cycles", kinds::count},
                                          Key{"most_cycles", kinds::count}, Key{"places", kinds::list}};
constexpr std::array place_keys{Key{"name", kinds::text}, Key{"kind", kinds::text},
                                Key{"cycles", kinds::count}, Key{"least_cycles", kinds::count},
                                Key{"most_cycles", kinds::count}};
constexpr std::array cycle_classes_keys{Key{"unit", kinds::text},        Key{"words", kinds::text},
                                        Key{"cells", kinds::text},       Key{"useful_macs", kinds::text},
                                        Key{"unused_macs", kinds::text}, Key{"classes", kinds::list}};
constexpr std::array cycle_class_keys{Key{"key", kinds::text}, Key{"name", kinds::text},
                                      Key{"meaning", kinds::text}};
constexpr std::array energy_keys{Key{"by_unit", kinds::object_or_null}};
constexpr std::array comparison_keys{
    Key{"baseline", kinds::text}, Key{"inferences_per_second", kinds::number}, Key{"speedup", kinds::number},
    Key{"performance_per_watt", kinds::object}};
constexpr std::array configuration_keys{Key{"run", kinds::object}, Key{"machine", kinds::object},
                                        Key{"baselines", kinds::list}};

constexpr std::array host_time_keys{Key{"text", kinds::text}, Key{"in_chip", kinds::flag},
                                    Key{"inferences_per_second", kinds::number}};

constexpr std::array host_share_keys{Key{"layers", kinds::list}, Key{"macs_share", kinds::number},
                                     Key{"seconds_share", kinds::number_or_null}};
constexpr std::array output_keys{Key{"name", kinds::text}, Key{"type", kinds::text},
                                 Key{"shape", kinds::list}, Key{"first", kinds::list}};
constexpr std::array host_layer_keys{Key{"name", kinds::text}};

constexpr std::array drawing_keys{Key{"boxes", kinds::list}, Key{"routes", kinds::list}};
constexpr std::array box_keys{Key{"unit", kinds::text},    Key{"title", kinds::text},
                              Key{"column", kinds::count}, Key{"row", kinds::count},
                              Key{"lines", kinds::list},   Key{"word", kinds::text}};
constexpr std::array line_keys{Key{"text", kinds::text}, Key{"numbers", kinds::list}};
constexpr std::array shown_number_keys{Key{"number", kinds::number}, Key{"format", kinds::text}};
constexpr std::array route_keys{Key{"from", kinds::text}, Key{"to", kinds::text}, Key{"figures", kinds::text},
                                Key{"shift", kinds::list}};

constexpr std::array explanation_keys{Key{"text", kinds::text}, Key{"what_ifs", kinds::list}};
constexpr std::array what_if_keys{Key{"change", kinds::text}, Key{"settings", kinds::list},
                                  Key{"speedup", kinds::number_or_null}, Key{"error", kinds::text}};

[[noreturn]] void fail(const std::string& file, const std::string& place, const Json& value,
                       std::string_view rule) {
    constexpr std::size_t longest = 40;
    std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > longest) text = text.substr(0, longest) + "...";
    throw machine::ConfigError(fmt::format("{}: {} is {}; it must be {}", file, place, text, rule));
}

void check_kind(const Json* value, const Kind& kind, const std::string& file, const std::string& path) {
    if (value == nullptr) {
        throw machine::ConfigError(fmt::format("{}: {} is missing; it must be {}", file, path, kind.rule));
    }
    if (!kind.holds(*value)) fail(file, path, *value, kind.rule);
}

void check(const Json& value, std::span<const Key> keys, const std::string& file, const std::string& place) {
    if (!kinds::object.holds(value)) fail(file, place, value, kinds::object.rule);
    for (const Key& key : keys) {
        const std::string path =
            place.empty() ? std::string(key.name) : fmt::format("{}.{}", place, key.name);
        const auto found = value.find(std::string(key.name));
        check_kind(found == value.end() ? nullptr : &*found, key.kind, file, path);
    }
}

/// Of the figures, those that every report has must be there; the page passes over others.
void check_figures(const Json& report, const std::string& file) {
    for (const report::Figure& figure : report::figures()) {
        const Json* const value = report::find_path(report, figure.key());
        const bool is_always = figure.needed == report::Figure::Needed::Always;
        const Kind& known = figure.format == "count" ? kinds::count : kinds::number;
        if (figure.needed == report::Figure::Needed::No && (value == nullptr || value->is_array())) continue;
        check_kind(value, is_always ? known : kinds::number_or_null, file, std::string(figure.key()));
    }
}

void check_each(const Json& list, std::span<const Key> keys, const std::string& file,
                std::string_view place) {
    for (std::size_t i = 0; i < list.size(); ++i) check(list[i], keys, file, fmt::format("{}[{}]", place, i));
}

/// The additional keys of reports with explanations.
void check_explanation(const Json& report, const std::string& file) {
    const auto found = report.find("explanation");
    if (found == report.end()) return;
    check(*found, explanation_keys, file, "explanation");
    check_each((*found)["what_ifs"], what_if_keys, file, "explanation.what_ifs");
}

/// The first numbers of outputs, in reports of networks of arrays.
void check_first_outputs(const Json& report, const std::string& file) {
    const auto found = report.find("first_outputs");
    if (found == report.end()) return;
    if (!kinds::list.holds(*found)) fail(file, "first_outputs", *found, kinds::list.rule);
    check_each(*found, output_keys, file, "first_outputs");
}

/// The host's time in the comparison, in reports that know of it.
void check_host_time(const Json& report, const std::string& file) {
    const auto found = report.find("host_time");
    if (found != report.end() && !found->is_null()) check(*found, host_time_keys, file, "host_time");
}

void check_host_share(const Json& report, const std::string& file) {
    const auto found = report.find("host_share");
    if (found == report.end() || found->is_null()) return;
    check(*found, host_share_keys, file, "host_share");
    check_each((*found)["layers"], host_layer_keys, file, "host_share.layers");
}

/// Layers that repeat, in reports that have such: they follow each other in the list of layers.
void check_repeated_layers(const Json& report, const std::string& file) {
    const auto found = report.find("repeated_layers");
    if (found == report.end()) return;
    check_kind(&*found, kinds::list, file, "repeated_layers");
    check_each(*found, repeated_layers_keys, file, "repeated_layers");
    std::uint64_t next = 0;  // behind the block before
    for (std::size_t i = 0; i < found->size(); ++i) {
        const Json& block = (*found)[i];
        const std::string place = fmt::format("repeated_layers[{}]", i);
        check_each(block["places"], place_keys, file, place + ".places");
        const std::uint64_t all = report["layers"].size();
        const std::uint64_t first = block["first"];
        const std::uint64_t length = block["layers"];
        const std::uint64_t count = block["count"];
        if (length != block["places"].size() || length == 0) {
            fail(file, place + ".layers", block["layers"], "the number of its places, and at least 1");
        }
        if (first < next || first > all) {
            fail(file, place + ".first", block["first"],
                 "behind the block before, and in the list of layers");
        }
        if (count < 2 || count > (all - first) / length) {
            fail(file, place + ".count", block["count"], "at least 2 and no more than the layers behind are");
        }
        next = first + count * length;
    }
}

/// How the machine is drawn, in reports that know of it.
void check_drawing(const Json& report, const std::string& file) {
    const auto found = report.find("drawing");
    if (found == report.end()) return;
    check(*found, drawing_keys, file, "drawing");
    const Json& boxes = (*found)["boxes"];
    check_each(boxes, box_keys, file, "drawing.boxes");
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const std::string place = fmt::format("drawing.boxes[{}].lines", i);
        check_each(boxes[i]["lines"], line_keys, file, place);
        for (const Json& line : boxes[i]["lines"]) {
            check_each(line["numbers"], shown_number_keys, file, place + ".numbers");
        }
    }
    check_each((*found)["routes"], route_keys, file, "drawing.routes");
}

/// Reasons, each a line.
void check_left_out(const Json& report, const std::string& file) {
    const auto found = report.find("left_out");
    if (found == report.end()) return;
    check(*found, {}, file, "left_out");
    for (const auto& [what, why] : found->items()) {
        if (!kinds::text.holds(why)) fail(file, "left_out." + what, why, kinds::text.rule);
    }
}

/// The main unit of an object, the report or a layer, with its counters.
void check_main_unit(const Json& object, const std::string& unit, std::span<const std::string> counters,
                     const std::string& file, const std::string& place) {
    const std::string path = place.empty() ? unit : fmt::format("{}.{}", place, unit);
    const auto found = object.find(unit);
    check_kind(found == object.end() ? nullptr : &*found, kinds::object, file, path);
    for (const std::string& name : counters) {
        const auto counter = found->find(name);
        check_kind(counter == found->end() ? nullptr : &*counter, kinds::count, file,
                   fmt::format("{}.{}", path, name));
    }
}

/// Which unit is the main one, and which counters its classes have: reports do not say it if it is the first
/// of all main units.
void check_main_units(const Json& report, const std::string& file) {
    const auto found = report.find("cycle_classes");
    std::string unit;
    std::vector<std::string> counters;
    if (found == report.end()) {
        const machine::NamedMainUnit& first = machine::main_units().front();
        unit = first.name;
        const auto add = [&](const std::string& path) { counters.push_back(path.substr(unit.size() + 1)); };
        for (const machine::CycleClass& each : first.unit.classes) add(each.counter);
        add(first.unit.useful_macs);
        add(first.unit.unused_macs);
    } else {
        check(*found, cycle_classes_keys, file, "cycle_classes");
        const Json& classes = (*found)["classes"];
        check_each(classes, cycle_class_keys, file, "cycle_classes.classes");
        if (classes.empty()) fail(file, "cycle_classes.classes", classes, "a list of at least one class");
        unit = (*found)["unit"];
        for (const Json& each : classes) counters.push_back(each["key"]);
    }
    check_main_unit(report, unit, counters, file, "");
    for (std::size_t i = 0; i < report["layers"].size(); ++i) {
        check_main_unit(report["layers"][i], unit, counters, file, fmt::format("layers[{}]", i));
    }
}

constexpr std::string_view report_schema = "sim.report/1";

void check_schema(const Json& report, const std::string& file) {
    const Json given = report.value("schema", Json());
    if (given == report_schema) return;
    throw machine::ConfigError(fmt::format("{}: schema is {}; it must be \"{}\"", file,
                                           given.is_null() ? "missing" : given.dump(), report_schema));
}

}  // namespace

Json parse_report(std::string_view text, const std::string& file) {
    Json report = machine::parse_ordered_json_object(text, file);
    check_schema(report, file);
    check(report, report_keys, file, "");
    check(report["energy"], energy_keys, file, "energy");
    check(report["configuration"], configuration_keys, file, "configuration");
    check_each(report["layers"], layer_keys, file, "layers");
    check_main_units(report, file);
    check_repeated_layers(report, file);
    check_figures(report, file);
    check_explanation(report, file);
    check_first_outputs(report, file);
    check_host_time(report, file);
    check_host_share(report, file);
    check_left_out(report, file);
    check_drawing(report, file);
    check_each(report["comparison"], comparison_keys, file, "comparison");
    return report;
}

std::optional<std::string> no_report_reason(const std::filesystem::path& file_or_folder) {
    namespace fs = std::filesystem;
    std::error_code error;
    if (fs::is_directory(file_or_folder, error)) {
        if (fs::exists(file_or_folder / "report.json", error)) return std::nullopt;
        if (fs::exists(file_or_folder / "advice.json", error)) return "an advice: its page is advice.html";
        if (fs::exists(file_or_folder / "study.html", error)) return "a study: its page is study.html";
        return "a folder without report.json";
    }
    if (!fs::is_regular_file(file_or_folder, error)) return std::nullopt;
    const std::string name = file_or_folder.filename().string();
    if (file_or_folder.extension() != ".json") {
        return file_or_folder.has_extension() ? std::optional("no file of JSON") : std::nullopt;
    }
    if (name == "report.json") return std::nullopt;
    try {
        const nlohmann::json object = machine::read_json_object(file_or_folder);
        const auto schema = object.find("schema");
        if (schema == object.end() || !schema->is_string()) return "no file of the simulator";
        const auto& text = schema->get_ref<const std::string&>();
        return text == report_schema ? std::nullopt : std::optional("of the kind " + text);
    } catch (const machine::ConfigError&) {
        return std::nullopt;  // read_report says what is wrong
    }
}

NamedReport read_report(const std::filesystem::path& file_or_folder) {
    std::error_code error;
    const bool is_folder = std::filesystem::is_directory(file_or_folder, error);
    const std::filesystem::path file = is_folder ? file_or_folder / "report.json" : file_or_folder;
    return {.name = file_or_folder.string(),
            .report = parse_report(machine::read_json_text(file), file.string())};
}

}  // namespace systole::page
