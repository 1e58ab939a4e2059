#include "sim/view/report/repeated_layers.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "sim/view/report/json_values.h"
#include "sim/view/report/main_layers.h"
#include "sim/view/report/name_patterns.h"

namespace systole::report {
namespace {

using Json = nlohmann::ordered_json;

/// Longer blocks are not looked for, as the search takes the number of layers times this length.
constexpr std::size_t longest_block = 2048;

std::size_t saved(const Repeats& repeats) {
    return (repeats.count - 1) * repeats.length;
}

/// The repeats that save most, by the element that they begin with; a count of 0 if there are none.
std::vector<Repeats> best_repeats(std::span<const std::size_t> kinds) {
    const std::size_t size = kinds.size();
    std::vector<Repeats> best(size);
    for (std::size_t i = 0; i < size; ++i) best[i].first = i;
    for (std::size_t length = 1; length <= std::min(size / 2, longest_block); ++length) {
        std::size_t alike = 0;  // elements from here on that equal the one a block later
        for (std::size_t i = size - length; i-- > 0;) {
            alike = kinds[i] == kinds[i + length] ? alike + 1 : 0;
            const Repeats found{.first = i, .length = length, .count = alike / length + 1};
            if (found.count > 1 && (best[i].count == 0 || saved(found) > saved(best[i]))) best[i] = found;
        }
    }
    return best;
}

/// The number of elements, up to `most`, by which blocks may begin later and still be as many.
std::size_t slack(std::span<const std::size_t> kinds, const Repeats& repeats, std::size_t most) {
    std::size_t more = 0;
    while (more < std::min(most, repeats.length - 1) &&
           kinds[repeats.end() + more] == kinds[repeats.end() + more - repeats.length]) {
        ++more;
    }
    return more;
}

/// Lets blocks begin where each has a mark of its own, if they can.
Repeats begun_by_marks(Repeats repeats, std::size_t slack, std::span<const std::string> marks) {
    for (std::size_t later = 0; later <= slack; ++later) {
        const std::size_t first = repeats.first + later;
        bool is_own = true;
        for (std::size_t block = 0; is_own && block < repeats.count; ++block) {
            const std::size_t begin = first + block * repeats.length;
            const auto of_block = marks.subspan(begin, repeats.length);
            is_own =
                std::ranges::all_of(of_block, [&](const auto& mark) { return mark == of_block.front(); }) &&
                (block == 0 || marks[begin] != marks[begin - 1]);
        }
        if (!is_own) continue;
        repeats.first = first;
        break;
    }
    return repeats;
}

/// A layer's name up to its first number, with that: "encoder.layer.3". Layers of one block often have it in
/// common, and those of the next block do not. Empty for a name without numbers.
std::string mark_of(std::string_view name) {
    const auto begin = name.find_first_of("0123456789");
    if (begin == std::string_view::npos) return {};
    return std::string(name.substr(0, name.find_first_not_of("0123456789", begin)));
}

/// The cycles of blocks or layers that are alike.
Json cycles_json(std::span<const std::uint64_t> cycles) {
    const auto [least, most] = std::ranges::minmax(cycles);
    return {{"cycles", std::accumulate(cycles.begin(), cycles.end(), std::uint64_t{0})},
            {"least_cycles", least},
            {"most_cycles", most}};
}

/// What is the same in layers that are alike. How long they wait, and which of their data are on the chip
/// already, depends on their neighbours.
std::string likeness(const Json& layer, std::span<const machine::Bound> bounds) {
    Json same = Json::array({without_numbers(layer["name"].get<std::string>()),
                             without_numbers(layer["kind"].get<std::string>()), layer["macs_per_inference"]});
    for (const machine::Bound& bound : bounds) {
        if (bound.computes) same.push_back(layer["bounds"][bound.name]);
    }
    return same.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Json block_json(const Json& layers, const Repeats& repeats) {
    const auto layer = [&](std::size_t block, std::size_t place) -> const Json& {
        return layers[repeats.first + block * repeats.length + place];
    };
    Json places = Json::array();
    std::vector<std::string> patterns;
    std::vector<std::uint64_t> of_blocks(repeats.count, 0);
    for (std::size_t place = 0; place < repeats.length; ++place) {
        std::vector<std::string> names;
        std::vector<std::string> kinds;
        std::vector<std::uint64_t> cycles;
        for (std::size_t block = 0; block < repeats.count; ++block) {
            names.push_back(layer(block, place)["name"]);
            kinds.push_back(layer(block, place)["kind"]);
            cycles.push_back(layer(block, place)["cycles"]);
            of_blocks[block] += cycles.back();
        }
        patterns.push_back(pattern_of(names));
        Json json{{"name", patterns.back()}, {"kind", pattern_of(kinds)}};
        json.update(cycles_json(cycles));
        places.push_back(std::move(json));
    }
    Json json{{"name", block_name(patterns)},
              {"first", repeats.first},
              {"layers", repeats.length},
              {"count", repeats.count}};
    json.update(cycles_json(of_blocks));
    json["places"] = std::move(places);
    return json;
}

}  // namespace

std::vector<Repeats> find_repeats(std::span<const std::size_t> kinds, std::span<const std::string> marks) {
    const std::vector<Repeats> best = best_repeats(kinds);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < best.size(); ++i) {
        if (best[i].count > 1 && saved(best[i]) >= least_saved) order.push_back(i);
    }
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return saved(best[i]); });
    std::map<std::size_t, Repeats> found;  // by their first element
    for (const std::size_t i : order) {
        const auto next = found.upper_bound(i);
        if (next != found.begin() && std::prev(next)->second.end() > i) continue;
        const std::size_t end = next == found.end() ? kinds.size() : next->first;
        Repeats repeats = best[i];
        repeats.count = std::min(repeats.count, (end - i) / repeats.length);
        if (repeats.count < 2 || saved(repeats) < least_saved) continue;
        const Repeats begun = begun_by_marks(repeats, slack(kinds, repeats, end - repeats.end()), marks);
        found.emplace(begun.first, begun);
    }
    std::vector<Repeats> all;
    all.reserve(found.size());
    for (const auto& [first, repeats] : found) all.push_back(repeats);
    return all;
}

Json repeated_layers_json(const Json& layers, std::span<const machine::Bound> bounds) {
    Json all = Json::array();
    if (layers.size() <= most_listed_layers + 1) return all;
    std::map<std::string, std::size_t> numbers;
    std::vector<std::size_t> kinds;
    std::vector<std::string> marks;
    for (const Json& layer : layers) {
        kinds.push_back(numbers.try_emplace(likeness(layer, bounds), numbers.size()).first->second);
        marks.push_back(mark_of(layer["name"].get<std::string>()));
    }
    for (const Repeats& repeats : find_repeats(kinds, marks)) all.push_back(block_json(layers, repeats));
    return all;
}

std::vector<Repeats> repeats_of(const Json& report) {
    std::vector<Repeats> all;
    const auto found = report.find("repeated_layers");
    if (found == report.end()) return all;
    for (const Json& each : *found) {
        all.push_back({.first = each["first"], .length = each["layers"], .count = each["count"]});
    }
    return all;
}

}  // namespace systole::report
