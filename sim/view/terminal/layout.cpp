#include "sim/view/terminal/layout.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/view/terminal/characters.h"
#include "sim/view/terminal/look.h"

namespace systole::terminal {
namespace {

/// The words of the text; a word longer than `longest` is split.
std::vector<std::string_view> words_of(std::string_view text, std::size_t longest) {
    std::vector<std::string_view> words;
    for (;;) {
        text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
        if (text.empty()) return words;
        std::size_t end = std::min({text.find_first_of(" \n"), text.size(), longest});
        // Not within a character of several bytes.
        while (end > 1 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U)
            --end;
        words.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

std::string in_lines(std::span<const std::string_view> words, std::size_t width, std::size_t indent) {
    std::string text;
    std::size_t column = 0;
    for (const std::string_view word : words) {
        if (column > 0 && column + 1 + word.size() > width) {
            text += '\n' + std::string(indent, ' ');
            column = 0;
        }
        if (column > 0) {
            text += ' ';
            ++column;
        }
        text += word;
        column += word.size();
    }
    return text;
}

std::size_t sum(std::span<const std::size_t> widths) {
    return std::accumulate(widths.begin(), widths.end(), std::size_t{0});
}

/// The characters of a text as they are shown, with their columns.
using Characters = std::vector<std::pair<std::string, std::size_t>>;

Characters characters_of(std::string_view text) {
    Characters characters;
    while (!text.empty()) {
        const Character character = first_character(text);
        characters.emplace_back(character.is_printable ? text.substr(0, character.bytes) : "?",
                                character.columns);
        text.remove_prefix(character.bytes);
    }
    return characters;
}

/// How many characters all names have in common at their begin (`head`) and at their end.
struct CommonEnds {
    std::size_t head = 0;
    std::size_t tail = 0;
};

CommonEnds common_ends(std::span<const Characters> names) {
    const Characters& first = names.front();
    CommonEnds common{.head = first.size(), .tail = first.size()};
    std::size_t shortest = first.size();
    for (const Characters& name : names.subspan(1)) {
        shortest = std::min(shortest, name.size());
        const auto heads = std::ranges::mismatch(first, name);
        common.head = std::min(common.head, static_cast<std::size_t>(heads.in1 - first.begin()));
        const auto tails = std::mismatch(first.rbegin(), first.rend(), name.rbegin(), name.rend());
        common.tail = std::min(common.tail, static_cast<std::size_t>(tails.first - first.rbegin()));
    }
    common.tail = std::min(common.tail, shortest - common.head);
    return common;
}

bool is_separator(std::string_view letters) {
    return letters == "." || letters == "/";
}

/// The head of a name that is cut behind it, without a begun part: "encoder.layer.0" of
/// "encoder.layer.0.att". Whole if half of it would go, or if its last part is whole: `next` follows it in
/// the name.
void end_with_part(std::vector<std::string_view>& head, std::string_view next) {
    if (is_separator(next)) return;
    const auto last = std::find_if(head.rbegin(), head.rend(), is_separator);
    const auto kept = static_cast<std::size_t>(head.rend() - last);
    if (last != head.rend() && 2 * (kept - 1) >= head.size()) head.resize(kept - 1);
}

/// The same for the tail of a name, which is given from its end: it begins with a separator and a part,
/// unless that is a number, which tells nothing without the part before it.
void begin_with_part(std::vector<std::string_view>& tail) {
    for (std::size_t kept = tail.size(); kept >= 2 && 2 * kept >= tail.size(); --kept) {
        const char next = tail[kept - 2].front();
        if (!is_separator(tail[kept - 1]) || (next >= '0' && next <= '9')) continue;
        tail.resize(kept);
        return;
    }
}

/// A name without its common ends, each of them a "~"; the tail stays, and as much of the head, where there
/// is room. If only what differs has room, and much of it, the name behind it is cut in the middle. Empty if
/// what differs is too wide.
std::string without_common_ends(const Characters& name, const CommonEnds& common, std::size_t width) {
    std::size_t begin = common.head;
    std::size_t end = name.size() - common.tail;
    const auto is_within = [&](std::size_t from, std::size_t to) {
        std::size_t columns = (from > 0 ? 1U : 0U) + (to < name.size() ? 1U : 0U);
        for (std::size_t i = from; i < to; ++i) columns += name[i].second;
        return columns <= width;
    };
    if (is_within(begin, name.size())) end = name.size();
    if (!is_within(begin, end)) return "";
    const bool has_parts = std::ranges::any_of(
        name, is_separator, [](const auto& each) -> std::string_view { return each.first; });
    if (has_parts && begin > 0 && end < name.size() && 4 * (end - begin + 1) <= width) {
        std::string rest;
        for (std::size_t i = begin; i < name.size(); ++i) rest += name[i].first;
        return '~' + with_both_ends(rest, width - 1);
    }
    while (begin > 0 && is_within(begin - 1, end)) --begin;
    std::string shown = begin > 0 ? "~" : "";
    for (std::size_t i = begin; i < end; ++i) shown += name[i].first;
    return end < name.size() ? shown + '~' : shown;
}

/// Names that are shown alike show where they differ, if there is room for it.
void show_differences(std::span<const std::string> names, std::size_t width,
                      std::vector<std::string>& shown) {
    std::map<std::string, std::set<std::string_view>> alike;
    for (std::size_t i = 0; i < names.size(); ++i) alike[shown[i]].insert(names[i]);
    std::map<std::string_view, std::string> different;
    for (const auto& [text, group] : alike) {
        if (group.size() == 1) continue;
        std::vector<Characters> characters;
        for (const std::string_view name : group) characters.push_back(characters_of(name));
        const CommonEnds common = common_ends(characters);
        auto name = group.begin();
        for (const Characters& each : characters) {
            different[*name++] = without_common_ends(each, common, width);
        }
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto found = different.find(names[i]);
        if (found != different.end() && !found->second.empty()) shown[i] = found->second;
    }
}

}  // namespace

std::string fitted(std::string_view text, std::size_t width) {
    std::string shown;
    std::string shortened;  // what is shown if the text takes more
    std::size_t columns = 0;
    while (!text.empty()) {
        const Character character = first_character(text);
        columns += character.columns;
        if (columns > width) return width > 0 ? shortened + '~' : "";
        shown += character.is_printable ? text.substr(0, character.bytes) : "?";
        if (columns < width) shortened = shown;
        text.remove_prefix(character.bytes);
    }
    return shown;
}

std::string with_both_ends(std::string_view text, std::size_t width) {
    const Characters characters = characters_of(text);
    std::size_t columns = 0;
    for (const auto& [letters, width_of_it] : characters) columns += width_of_it;
    if (columns > width && width == 0) return "";
    const bool is_cut = columns > width;
    const auto add_within = [](auto first, auto last, std::size_t room,
                               std::vector<std::string_view>& parts) {
        for (auto each = first; each != last && each->second <= room; ++each) {
            room -= each->second;
            parts.emplace_back(each->first);
        }
        return room;
    };
    std::vector<std::string_view> end;
    std::size_t room = width;
    if (is_cut) {
        room = width - 1 - width / 2 + add_within(characters.rbegin(), characters.rend(), width / 2, end);
        begin_with_part(end);
    }
    std::vector<std::string_view> parts;
    add_within(characters.begin(), characters.end(), room, parts);
    if (is_cut) {
        end_with_part(parts, characters[parts.size()].first);
        parts.emplace_back("~");
    }
    parts.insert(parts.end(), end.rbegin(), end.rend());
    std::string shown;
    for (const std::string_view part : parts) shown += part;
    return shown;
}

std::vector<std::string> told_apart(std::span<const std::string> names, std::size_t width) {
    std::vector<std::string> shown;
    for (const std::string& name : names) shown.push_back(with_both_ends(name, width));
    show_differences(names, width, shown);
    std::vector<bool> numbered(names.size(), false);
    // A number may make a name equal to one that has none yet: until nothing changes.
    for (bool changed = true; changed;) {
        changed = false;
        std::map<std::string_view, std::set<std::string_view>> alike;
        for (std::size_t i = 0; i < names.size(); ++i) alike[shown[i]].insert(names[i]);
        std::vector<std::size_t> same;
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (!numbered[i] && alike[shown[i]].size() > 1) same.push_back(i);
        }
        for (const std::size_t i : same) {
            const std::string number = "#" + std::to_string(i + 1);
            shown[i] = with_both_ends(names[i], width - std::min(width, number.size())) + number;
            numbered[i] = changed = true;
        }
    }
    return shown;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
    return in_lines(words_of(text, std::string_view::npos), width, indent);
}

std::string beside(std::string_view lead, std::string_view text, std::size_t columns) {
    constexpr std::size_t least_room = 18;
    constexpr std::size_t indent = 6;
    const std::size_t begin = columns_of(lead);
    if (begin + text.size() <= columns) return std::string(lead) + std::string(text);
    if (begin + least_room <= columns) {
        const std::size_t room = columns - begin;
        return std::string(lead) + in_lines(words_of(text, room), room, begin);
    }
    const std::size_t room = columns > indent ? columns - indent : 1;
    std::string result(lead.substr(0, lead.find_last_not_of(' ') + 1));
    return result + '\n' + std::string(indent, ' ') + in_lines(words_of(text, room), room, indent);
}

std::vector<std::size_t> fit(std::span<const Column> table, std::size_t columns) {
    std::vector<std::size_t> widths;
    std::vector<std::size_t> least;
    for (const Column& column : table) {
        widths.push_back(column.width);
        least.push_back(std::min(column.least, column.width));
    }
    const auto last = std::max_element(table.begin(), table.end(),
                                       [](const Column& a, const Column& b) { return a.leave < b.leave; });
    const unsigned most_left_out = last == table.end() ? 0 : last->leave;
    for (unsigned turn = 1; turn <= most_left_out && sum(least) > columns; ++turn) {
        for (std::size_t i = 0; i < table.size(); ++i) {
            if (table[i].leave == turn) widths[i] = least[i] = 0;
        }
    }
    for (std::size_t i = 0; i < table.size(); ++i) {
        const std::size_t all = sum(widths);
        if (all > columns) {
            widths[i] -= std::min(all - columns, widths[i] - least[i]);
        } else if (widths[i] > 0 && table[i].most > widths[i]) {
            widths[i] += std::min(columns - all, table[i].most - widths[i]);
        }
    }
    return widths;
}

}  // namespace systole::terminal
