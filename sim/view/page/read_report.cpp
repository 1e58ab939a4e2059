// Reads report.json and checks the keys that the page uses.
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/view/page/page.h"

namespace systole::page {
namespace {

using Json = nlohmann::ordered_json;

enum class Kind { Text, Count, Number, NumberOrNull, Flag, List, Object };

std::string_view rule_of(Kind kind) {
    switch (kind) {
        case Kind::Text:
            return "a text";
        case Kind::Count:
            return "a whole number of at least 0";
        case Kind::Number:
            return "a number";
        case Kind::NumberOrNull:
            return "a number or null";
        case Kind::Flag:
            return "true or false";
        case Kind::List:
            return "a list";
        case Kind::Object:
            return "an object";
    }
    throw std::logic_error("a kind of value that is none");
}

bool is_of(const Json& value, Kind kind) {
    switch (kind) {
        case Kind::Text:
            return value.is_string();
        case Kind::Count:
            return value.is_number_unsigned();
        case Kind::Number:
            return value.is_number();
        case Kind::NumberOrNull:
            return value.is_number() || value.is_null();
        case Kind::Flag:
            return value.is_boolean();
        case Kind::List:
            return value.is_array();
        case Kind::Object:
            return value.is_object();
    }
    throw std::logic_error("a kind of value that is none");
}

struct Key {
    std::string_view name;
    Kind kind;
};

/// The keys without which the page cannot be shown.
constexpr std::array report_keys{Key{"machine", Kind::Text},
                                 Key{"model", Kind::Text},
                                 Key{"batch", Kind::Count},
                                 Key{"inferences", Kind::Count},
                                 Key{"cycles", Kind::Count},
                                 Key{"seconds", Kind::Number},
                                 Key{"inferences_per_second", Kind::NumberOrNull},
                                 Key{"seconds_per_batch", Kind::NumberOrNull},
                                 Key{"tops", Kind::Object},
                                 Key{"matrix_unit", Kind::Object},
                                 Key{"traffic", Kind::Object},
                                 Key{"memory", Kind::Object},
                                 Key{"layers", Kind::List},
                                 Key{"energy", Kind::Object},
                                 Key{"comparison", Kind::List},
                                 Key{"predictions", Kind::List},
                                 Key{"accuracy", Kind::NumberOrNull},
                                 Key{"timing_only", Kind::Flag},
                                 Key{"host_operations", Kind::List},
                                 Key{"simulator", Kind::Object},
                                 Key{"configuration", Kind::Object}};
constexpr std::array tops_keys{Key{"achieved", Kind::NumberOrNull}, Key{"peak", Kind::Number}};
constexpr std::array matrix_unit_keys{
    Key{"active_cycles", Kind::Count},       Key{"weight_stall_cycles", Kind::Count},
    Key{"weight_shift_cycles", Kind::Count}, Key{"non_matrix_cycles", Kind::Count},
    Key{"raw_stall_cycles", Kind::Count},    Key{"input_stall_cycles", Kind::Count},
    Key{"useful_macs", Kind::Count},         Key{"unused_macs", Kind::Count}};
constexpr std::array layer_keys{Key{"name", Kind::Text}, Key{"kind", Kind::Text}, Key{"cycles", Kind::Count},
                                Key{"share", Kind::NumberOrNull}, Key{"matrix_unit", Kind::Object}};
constexpr std::array energy_keys{Key{"joules", Kind::NumberOrNull}, Key{"watts", Kind::NumberOrNull},
                                 Key{"joules_per_inference", Kind::NumberOrNull},
                                 Key{"by_unit", Kind::Object}};
constexpr std::array comparison_keys{Key{"baseline", Kind::Text}, Key{"inferences_per_second", Kind::Number},
                                     Key{"speedup", Kind::Number}, Key{"performance_per_watt", Kind::Object}};
constexpr std::array configuration_keys{Key{"run", Kind::Object}, Key{"machine", Kind::Object},
                                        Key{"baselines", Kind::List}};

constexpr std::array explanation_keys{Key{"text", Kind::Text}, Key{"what_ifs", Kind::List}};
constexpr std::array what_if_keys{Key{"change", Kind::Text}, Key{"settings", Kind::List},
                                  Key{"speedup", Kind::NumberOrNull}, Key{"error", Kind::Text}};

[[noreturn]] void fail(const std::string& file, const std::string& place, const Json& value,
                       std::string_view rule) {
    constexpr std::size_t longest = 40;
    std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > longest) text = text.substr(0, longest) + "...";
    throw machine::ConfigError(fmt::format("{}: {} is {}; it must be {}", file, place, text, rule));
}

template <std::size_t count>
void check(const Json& object, const std::array<Key, count>& keys, const std::string& file,
           const std::string& place) {
    if (!object.is_object()) fail(file, place, object, rule_of(Kind::Object));
    for (const Key& key : keys) {
        const std::string path =
            place.empty() ? std::string(key.name) : fmt::format("{}.{}", place, key.name);
        const auto found = object.find(std::string(key.name));
        if (found == object.end()) {
            throw machine::ConfigError(
                fmt::format("{}: {} is missing; it must be {}", file, path, rule_of(key.kind)));
        }
        if (!is_of(*found, key.kind)) fail(file, path, *found, rule_of(key.kind));
    }
}

/// The additional keys of reports with explanations.
void check_explanation(const Json& report, const std::string& file) {
    const auto found = report.find("explanation");
    if (found == report.end()) return;
    check(*found, explanation_keys, file, "explanation");
    const Json& what_ifs = (*found)["what_ifs"];
    for (std::size_t i = 0; i < what_ifs.size(); ++i) {
        check(what_ifs[i], what_if_keys, file, fmt::format("explanation.what_ifs[{}]", i));
    }
}

void check_schema(const Json& report, const std::string& file) {
    constexpr std::string_view schema = "sim.report/1";
    const Json given = report.value("schema", Json());
    if (given == schema) return;
    throw machine::ConfigError(fmt::format("{}: schema is {}; it must be \"{}\"", file,
                                           given.is_null() ? "missing" : given.dump(), schema));
}

}  // namespace

Json parse_report(std::string_view text, const std::string& file) {
    Json report = machine::parse_ordered_json_object(text, file);
    check_schema(report, file);
    check(report, report_keys, file, "");
    check(report["tops"], tops_keys, file, "tops");
    check(report["matrix_unit"], matrix_unit_keys, file, "matrix_unit");
    check(report["energy"], energy_keys, file, "energy");
    check(report["configuration"], configuration_keys, file, "configuration");
    for (std::size_t i = 0; i < report["layers"].size(); ++i) {
        const std::string place = fmt::format("layers[{}]", i);
        check(report["layers"][i], layer_keys, file, place);
        check(report["layers"][i]["matrix_unit"], matrix_unit_keys, file, place + ".matrix_unit");
    }
    check_explanation(report, file);
    for (std::size_t i = 0; i < report["comparison"].size(); ++i) {
        check(report["comparison"][i], comparison_keys, file, fmt::format("comparison[{}]", i));
    }
    return report;
}

NamedReport read_report(const std::filesystem::path& file_or_folder) {
    std::error_code error;
    const bool is_folder = std::filesystem::is_directory(file_or_folder, error);
    const std::filesystem::path file = is_folder ? file_or_folder / "report.json" : file_or_folder;
    return {.name = file_or_folder.string(),
            .report = parse_report(machine::read_json_text(file), file.string())};
}

}  // namespace systole::page
