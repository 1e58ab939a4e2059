#include "sim/view/report/name_patterns.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>

namespace systole::report {
namespace {

bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

/// The numbers in a name and the texts around them, in turn; it begins and ends with a text.
std::vector<std::string_view> parts_of_name(std::string_view name) {
    std::vector<std::string_view> parts;
    for (bool in_number = false;; in_number = !in_number) {
        const auto end =
            std::ranges::find_if(name, [&](char letter) { return is_digit(letter) != in_number; });
        const auto length = static_cast<std::size_t>(end - name.begin());
        parts.push_back(name.substr(0, length));
        name.remove_prefix(length);
        if (name.empty() && !in_number) return parts;
    }
}

constexpr std::string_view scope_ends = "/._";

/// "layer.0" of "/layer.0": some names of a file begin with the root of its scopes, others do not.
std::string_view without_root(std::string_view name) {
    return name.starts_with('/') ? name.substr(1) : name;
}

}  // namespace

std::string without_numbers(std::string_view name) {
    const std::vector<std::string_view> parts = parts_of_name(name);
    std::string text;
    for (std::size_t i = 0; i < parts.size(); i += 2) {
        if (i > 0) text += '#';
        for (const char letter : parts[i]) {
            if (letter == '#' || letter == '\\') text += '\\';
            text += letter;
        }
    }
    return text;
}

std::string pattern_of(std::span<const std::string> names) {
    std::vector<std::vector<std::string_view>> parts;
    parts.reserve(names.size());
    for (const std::string& name : names) parts.push_back(parts_of_name(name));
    std::string pattern;
    for (std::size_t i = 0; i < parts.front().size(); ++i) {
        const bool is_same = std::ranges::all_of(
            parts, [&](const auto& of_name) { return of_name.at(i) == parts.front()[i]; });
        pattern += is_same ? parts.front()[i] : "*";
    }
    return pattern;
}

std::string common_scope(std::span<const std::string> names) {
    std::string_view common = without_root(names.front());
    for (const std::string& name : names) {
        const auto ends = std::ranges::mismatch(common, without_root(name));
        common = common.substr(0, static_cast<std::size_t>(ends.in1 - common.begin()));
    }
    const bool ends_parts = std::ranges::all_of(names, [&](const std::string& each) {
        const std::string_view name = without_root(each);
        return name.size() == common.size() || scope_ends.find(name[common.size()]) != std::string_view::npos;
    });
    const std::size_t end = ends_parts ? common.size() : common.find_last_of(scope_ends);
    common = common.substr(0, end == std::string_view::npos ? 0 : end);
    const std::size_t last = common.find_last_not_of(scope_ends);
    return std::string(common.substr(0, last == std::string_view::npos ? 0 : last + 1));
}

std::string block_name(std::span<const std::string> names) {
    const auto is_in_scope = [](std::string_view name) {
        return without_root(name).find_first_of("./") != std::string_view::npos;
    };
    std::vector<std::string> in_scope;
    std::ranges::copy_if(names, std::back_inserter(in_scope), is_in_scope);
    const std::string scope = common_scope(in_scope.empty() ? names : std::span<const std::string>(in_scope));
    return scope.empty() ? names.front() : scope;
}

std::string_view within_scope(std::string_view name, std::string_view scope) {
    const std::string_view whole = without_root(name);
    if (scope.empty() || whole == scope || !whole.starts_with(scope)) return name;
    const std::string_view rest = whole.substr(scope.size());
    const std::size_t begin = rest.find_first_not_of(scope_ends);
    return begin == 0 || begin == std::string_view::npos ? name : rest.substr(begin);
}

std::vector<NameGroup> groups_of(std::span<const std::string> names) {
    std::map<std::string, std::size_t> places;
    std::vector<std::vector<std::string>> grouped;
    for (const std::string& name : names) {
        const auto [found, is_new] = places.try_emplace(without_numbers(name), grouped.size());
        if (is_new) grouped.emplace_back();
        grouped[found->second].push_back(name);
    }
    std::vector<NameGroup> groups;
    groups.reserve(grouped.size());
    for (const auto& group : grouped) {
        groups.push_back({.pattern = pattern_of(group), .count = group.size()});
    }
    return groups;
}

}  // namespace systole::report
