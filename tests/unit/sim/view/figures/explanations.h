#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/sim/view/figures/facts.h"
#include "tests/unit/sim/view/figures/rows.h"
#include "tests/unit/sim/view/figures/words.h"

/// What a change would bring: docs/report.md, Why. The changes are simulated here, too, with the settings
/// that the report gives for them.
namespace systole::figures {

/// The record of the run with these settings.
inline const run::RunRecord* changed_record(const Facts& facts, const Json& settings) {
    for (const Facts::Change& change : facts.files().changes) {
        if (Json(change.settings) == settings) return &change.record;
    }
    return nullptr;
}

/// Seconds of an inference, of the run or under a tag.
inline double seconds_each(const run::RunRecord& record, std::optional<run::Tag> tag) {
    std::uint64_t cycles = 0;
    const bool has_tiles = record.spec.machine.family == machine::Family::EdgeTpu;
    const std::string unit = has_tiles ? "tile_array." : "matrix_unit.";
    const auto kinds = has_tiles ? std::array{"busy", "ring_stall", "sync", "idle"}
                                 : std::array{"active", "weight_stall", "weight_shift", "non_matrix"};
    for (const char* const kind : kinds) {
        const run::Counter& counter = record.counters.at(unit + kind + "_cycles");
        for (std::size_t i = 0; i < counter.by_tag.size(); ++i)
            cycles += !tag || *tag == i ? counter.by_tag[i] : 0;
    }
    return static_cast<double>(cycles) / static_cast<double>(record.program.inferences) /
           (record.spec.machine.clock_mhz * 1e6);
}

/// How many times as fast an inference is with the change; null where none of its time is left.
inline Json speedup_with(const Facts& facts, const Json& settings, std::optional<run::Tag> tag) {
    const run::RunRecord* const changed = changed_record(facts, settings);
    if (changed == nullptr) return "a change that was simulated";
    return quotient(seconds_each(facts.record(), tag), seconds_each(*changed, tag)).value;
}

inline const Json* what_if_named(const Facts& facts, const Json& change) {
    for (const Json& what_if : facts.report().at("explanation").at("what_ifs")) {
        if (what_if.at("change") == change) return &what_if;
    }
    return nullptr;
}

/// The change that a sentence names, and what it brings to the run or the layer.
inline Expected named_change(const Facts& facts, const Json& shown, std::optional<run::Tag> tag) {
    if (shown.is_null()) return nullptr;
    const Json* const what_if = what_if_named(facts, shown.at("change"));
    if (what_if == nullptr) return "one of the changes";
    return Json{{"change", shown.at("change")},
                {"speedup", speedup_with(facts, what_if->at("settings"), tag)}};
}

/// The second half of a sentence has the change's own numbers, then its speed, of a layer also that of the
/// run.
inline Expected sentence(const Facts& facts, const Json& text, const Json& change,
                         std::optional<run::Tag> tag) {
    if (change.is_null()) return text;
    const std::string name = change.at("change");
    const std::string whole = text;
    const std::size_t begin = whole.rfind(name);
    if (begin == std::string::npos) return "a sentence about " + name;
    const Json& settings = what_if_named(facts, change.at("change"))->at("settings");
    std::vector<double> numbers;
    for (const Json& speedup : {speedup_with(facts, settings, tag), speedup_with(facts, settings, {})}) {
        if (speedup.is_number()) numbers.push_back(speedup);
    }
    const std::string half = whole.substr(begin + name.size());
    return words_with(half, numbers) == half ? text : Json(words_with(half, numbers));
}

inline Rows rows_of_explanations() {
    const auto is_explained = [](const Facts& facts) { return !facts.files().changes.empty(); };
    // A layer that the program never names has no sentence.
    const auto of_layer = [=](auto compute) {
        return [=](const Facts& facts, const Place& place) {
            const bool is_named = facts.tag(place.index()) < facts.record().program.tags.size();
            return is_explained(facts) && is_named ? Expected(compute(facts, place)) : absent();
        };
    };
    const auto of_run = [=](auto compute) {
        return [=](const Facts& facts, const Place& place) {
            return is_explained(facts) ? Expected(compute(facts, place)) : absent();
        };
    };
    return {
        {"explanation.text", of_run([](const Facts& facts, const Place&) {
             const Json& shown = facts.report().at("explanation");
             return sentence(facts, shown.at("text"), shown.at("what_if"), {});
         })},
        {"explanation.what_if", of_run([](const Facts& facts, const Place&) {
             return named_change(facts, facts.report().at("explanation").at("what_if"), {});
         })},
        {"explanation.what_ifs#", of_run([](const Facts& facts, const Place&) {
             return facts.files().changes.size() - 1;  // the first is the run itself
         })},
        {"explanation.what_ifs[].change", of_run([](const Facts& facts, const Place& place) {
             return facts.report().at("explanation").at("what_ifs").at(place.index()).at("change");
         })},
        {"explanation.what_ifs[].settings", of_run([](const Facts& facts, const Place& place) {
             return facts.files().changes.at(place.index() + 1).settings;
         })},
        {"explanation.what_ifs[].speedup", of_run([](const Facts& facts, const Place& place) {
             return speedup_with(facts, facts.files().changes.at(place.index() + 1).settings, {});
         })},
        {"explanation.what_ifs[].error", of_run([](const Facts&, const Place&) { return ""; })},
        {"explanation.what_ifs[].remark", of_run([](const Facts&, const Place&) { return ""; })},
        {"layers[].explanation", of_layer([](const Facts& facts, const Place& place) {
             const Json& layer = facts.report().at("layers").at(place.index());
             return sentence(facts, layer.at("explanation"), layer.at("what_if"), facts.tag(place.index()));
         })},
        {"layers[].what_if", of_layer([](const Facts& facts, const Place& place) {
             const Json& layer = facts.report().at("layers").at(place.index());
             return named_change(facts, layer.at("what_if"), facts.tag(place.index()));
         })},
    };
}

}  // namespace systole::figures
