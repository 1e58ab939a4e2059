#include "sim/view/page/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>
#include <utility>

#include "base/user_error.h"
#include "hw/machine/config_error.h"
#include "sim/view/report/figures.h"

namespace systole::page {
namespace {

using Json = nlohmann::ordered_json;
using report::number_at;
using Value = std::optional<double>;

Value quotient(Value numerator, Value denominator) {
    if (!numerator || !denominator || !(*denominator > 0.0)) return std::nullopt;
    return *numerator / *denominator;
}

template <class Read>
bool all_same(std::span<const NamedReport> reports, Read read) {
    return std::ranges::all_of(
        reports, [&](const NamedReport& each) { return read(each.report) == read(reports.front().report); });
}

Value clock_of(const Json& report) {
    return number_at(report, "configuration.machine.clock_mhz");
}

/// The properties that reports must share for their figures to be comparable.
struct Common {
    explicit Common(std::span<const NamedReport> reports)
        : same_clock(all_same(reports, clock_of)),
          same_work(all_same(reports, [](const Json& r) { return number_at(r, "inferences"); })),
          each_inference(!same_work && std::ranges::all_of(reports, [](const NamedReport& each) {
              return number_at(each.report, "inferences").value_or(0.0) > 0.0;
          })) {}

    bool same_clock;
    bool same_work;
    bool each_inference;

    /// A total of the run, or its part of one inference.
    Value total(const Json& report, Value value) const {
        return each_inference ? quotient(value, number_at(report, "inferences")) : value;
    }
};

Value speedup_over(const Json& report, const std::string& baseline) {
    for (const Json& each : report["comparison"]) {
        if (each["baseline"] == baseline) return number_at(each, "speedup");
    }
    return std::nullopt;
}

/// The baselines of all reports, in the order in which they first appear.
std::vector<std::string> baselines_of(std::span<const NamedReport> reports) {
    std::vector<std::string> names;
    for (const NamedReport& each : reports) {
        for (const Json& comparison : each.report["comparison"]) {
            std::string name = comparison["baseline"];
            if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
        }
    }
    return names;
}

/// Whether the figure is a row: where all reports have one, what would stand for it is none.
bool is_row(const report::Figure& figure, std::span<const NamedReport> reports) {
    const auto all_have = [&](const report::Figure& any) {
        return std::ranges::all_of(
            reports, [&](const NamedReport& each) { return report::value_of(any, each.report).has_value(); });
    };
    if (!figure.row.is_compared) return false;
    for (const report::Figure& other : report::figures()) {
        if (!other.row.is_compared) continue;
        if (other.key() == figure.instead_of) return !all_have(other);
        if (other.instead_of == figure.key()) return all_have(figure);
    }
    return true;
}

std::vector<Figure> figures_of(std::span<const NamedReport> reports, const Common& common) {
    std::vector<Figure> figures;
    const auto add = [&](Figure figure, auto read) {
        for (const NamedReport& each : reports) figure.values.push_back(read(each.report));
        const auto is_known = [](const Value& value) { return value.has_value(); };
        if (std::ranges::any_of(figure.values, is_known)) figures.push_back(std::move(figure));
    };
    for (const report::Figure& figure : report::figures()) {
        if (!is_row(figure, reports)) continue;
        const report::Figure::Row& row = figure.row;
        const bool is_each = row.is_total && common.each_inference;
        // Totals are merits where the work is the same. A slower clock shifts the shares of cycles.
        const bool is_merit =
            (!row.is_total || common.same_work || is_each) && (!row.in_cycles || common.same_clock);
        add({.name = std::string(figure.name) + (is_each ? " an inference" : ""),
             .format = figure.format,
             .better = is_merit ? row.better : 0,
             .of_clock = row.in_cycles && figure.whole().empty() && !common.same_clock,
             .values = {}},
            [&figure, &common, is_each](const Json& report) {
                const Value value = report::value_of(figure, report);
                if (figure.key() == "inferences" && value == 0.0) return Value();  // of a program
                return is_each ? common.total(report, value) : value;
            });
    }
    for (const std::string& baseline : baselines_of(reports)) {
        add({.name = fmt::format("least speedup over {}", baseline),
             .format = "times",
             .better = 1,
             .values = {}},
            [&](const Json& report) { return speedup_over(report, baseline); });
    }
    return figures;
}

/// What makes two networks the same: name, layers, and their work.
Json identity_of(const Json& report) {
    Json identity = Json::array({report["model"]});
    for (const Json& layer : report["layers"]) {
        const Value macs = number_at(layer, "macs_per_inference");
        if (macs.value_or(0.0) > 0.0) identity.push_back({layer["name"], *macs});
    }
    return identity;
}

std::vector<std::size_t> networks_of(std::span<const NamedReport> reports) {
    std::map<std::string, std::size_t> first;
    std::vector<std::size_t> networks;
    constexpr auto replace = Json::error_handler_t::replace;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const std::string identity = identity_of(reports[i].report).dump(-1, ' ', false, replace);
        networks.push_back(first.try_emplace(identity, i).first->second);
    }
    return networks;
}

std::vector<LayerCycles> layers_of(std::span<const NamedReport> reports, const Common& common) {
    std::vector<LayerCycles> layers;
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const Json& report = reports[i].report;
        for (const Json& layer : report["layers"]) {
            const std::string name = layer["name"];
            const auto [place, is_new] = places.try_emplace(name, layers.size());
            if (is_new) layers.push_back({.name = name, .cycles = std::vector<Value>(reports.size())});
            Value& cycles = layers[place->second].cycles[i];
            const Value more = common.total(report, number_at(layer, "cycles"));
            cycles = cycles.value_or(0.0) + more.value_or(0.0);  // a program may name two tags alike
        }
    }
    if (common.same_clock) return layers;
    for (LayerCycles& layer : layers) {
        for (std::size_t i = 0; i < reports.size(); ++i) {
            const Value mhz = clock_of(reports[i].report);
            layer.seconds.push_back(quotient(layer.cycles[i], mhz ? Value(*mhz * 1e6) : mhz));
        }
    }
    return layers;
}

/// A value of the configuration as text.
std::string text_of(const Json& value) {
    if (value.is_null()) return {};
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float()) return fmt::format("{}", value.get<double>());
    return value.dump();
}

using Keys = std::vector<std::pair<std::string, std::string>>;

/// Dotted keys with their values, in the report's order. A list of plain values is one value.
void flatten(const Json& value, const std::string& path, Keys& keys) {
    const auto is_plain = [](const Json& each) { return !each.is_structured(); };
    if (!value.is_structured()) {
        keys.emplace_back(path, text_of(value));
        return;
    }
    if (value.is_array() && std::all_of(value.begin(), value.end(), is_plain)) {
        std::vector<std::string> texts;
        for (const Json& each : value) texts.push_back(text_of(each));
        keys.emplace_back(path, fmt::format("{}", fmt::join(texts, ", ")));
        return;
    }
    for (const auto& [key, each] : value.items()) {
        if (key != "sources") flatten(each, fmt::format("{}.{}", path, key), keys);
    }
}

/// The output folder says nothing, and the machine itself shows what was set.
bool says_nothing(std::string_view key) {
    return key == "run.out" || key.starts_with("run.machine_settings");
}

std::vector<DifferingKey> differing_keys(std::span<const NamedReport> reports) {
    std::vector<DifferingKey> keys;
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        Keys flat;
        for (const char* const part : {"run", "machine"}) {
            flatten(reports[i].report["configuration"][part], part, flat);
        }
        for (auto& [key, value] : flat) {
            if (says_nothing(key)) continue;
            const auto [place, is_new] = places.try_emplace(key, keys.size());
            if (is_new) {
                keys.push_back(
                    {.key = key, .values = std::vector<std::optional<std::string>>(reports.size())});
            }
            keys[place->second].values[i] = std::move(value);
        }
    }
    std::erase_if(keys, [](const DifferingKey& key) {
        return std::ranges::all_of(key.values,
                                   [&](const auto& value) { return value == key.values.front(); });
    });
    return keys;
}

/// The parts of the report's path, without that of its file.
std::vector<std::string> parts_of(const std::string& name) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t end = std::min(name.find('/', begin), name.size());
        parts.push_back(name.substr(begin, end - begin));
        begin = end + 1;
    }
    while (parts.size() > 1 && parts.back().empty()) parts.pop_back();
    if (parts.size() > 1 && parts.back() == "report.json") parts.pop_back();
    return parts;
}

}  // namespace

std::vector<std::string> short_names(std::span<const NamedReport> reports) {
    std::vector<std::vector<std::string>> parts;
    for (const NamedReport& each : reports) parts.push_back(parts_of(each.name));
    const auto is_shared = [&](std::size_t depth) {
        return std::ranges::all_of(parts, [&](const auto& each) {
            return each.size() > depth + 1 && each[depth] == parts.front()[depth];
        });
    };
    std::size_t shared = 0;
    while (is_shared(shared)) ++shared;
    std::vector<std::string> names;
    names.reserve(parts.size());
    for (const auto& each : parts) {
        names.push_back(fmt::format("{}", fmt::join(std::span(each).subspan(shared), "/")));
    }
    return names;
}

std::size_t find_report(std::span<const NamedReport> reports, const std::string& name_or_number) {
    const std::vector<std::string> names = short_names(reports);
    for (std::size_t i = 0; i < reports.size(); ++i) {
        if (name_or_number == reports[i].name || name_or_number == names[i]) return i;
    }
    std::size_t number = 0;
    const char* const end = name_or_number.data() + name_or_number.size();
    const auto [rest, error] = std::from_chars(name_or_number.data(), end, number);
    if (error == std::errc() && rest == end && number >= 1 && number <= reports.size()) return number - 1;

    throw machine::ConfigError(
        fmt::format("--against is \"{}\"; it must be the name of a report, or its number from 1 to {}{}",
                    name_or_number, reports.size(), suggestion(name_or_number, names)));
}

SideBySide side_by_side(std::span<const NamedReport> reports, std::size_t against) {
    const Common common(reports);
    SideBySide compared{.names = short_names(reports),
                        .models = {},
                        .networks = networks_of(reports),
                        .against = against,
                        .each_inference = common.each_inference,
                        .figures = figures_of(reports, common),
                        .layers = layers_of(reports, common),
                        .keys = differing_keys(reports)};
    for (const NamedReport& each : reports) {
        compared.models.push_back(each.report["model"]);
        if (!common.same_clock) compared.clocks_mhz.push_back(clock_of(each.report));
    }
    return compared;
}

Json to_json(const SideBySide& compared) {
    const auto optional = [](const auto& value) -> Json { return value ? Json(*value) : Json(nullptr); };
    const auto list = [&](const auto& values) {
        Json array = Json::array();
        for (const auto& value : values) array.push_back(optional(value));
        return array;
    };
    Json json{{"names", compared.names},
              {"networks", compared.networks},
              {"against", compared.against},
              {"each_inference", compared.each_inference},
              {"clocks_mhz", list(compared.clocks_mhz)},
              {"figures", Json::array()},
              {"layers", Json::array()},
              {"keys", Json::array()}};
    for (const Figure& each : compared.figures) {
        json["figures"].push_back({{"name", each.name},
                                   {"format", each.format},
                                   {"better", each.better},
                                   {"of_clock", each.of_clock},
                                   {"values", list(each.values)}});
    }
    for (const LayerCycles& each : compared.layers) {
        json["layers"].push_back(
            {{"name", each.name}, {"cycles", list(each.cycles)}, {"seconds", list(each.seconds)}});
    }
    for (const DifferingKey& each : compared.keys) {
        json["keys"].push_back({{"key", each.key}, {"values", list(each.values)}});
    }
    return json;
}

}  // namespace systole::page
