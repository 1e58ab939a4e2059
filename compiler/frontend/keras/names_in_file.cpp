#include "compiler/frontend/keras/names_in_file.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace systole::frontend {
namespace {

constexpr char other_separator = '\\';

/// Calls visit(name, what is behind the beginning) for the names with this beginning.
template <typename Visit>
void for_each_with(const std::vector<std::string>& sorted, const std::string& beginning, const Visit& visit) {
    for (auto name = std::ranges::lower_bound(sorted, beginning);
         name != sorted.end() && name->starts_with(beginning); ++name) {
        visit(*name, std::string_view(*name).substr(beginning.size()));
    }
}

}  // namespace

std::vector<std::string> NamesInFile::children(const std::string& path) const {
    std::set<std::string> children;
    for (const Place& place : places_of(path)) {
        for_each_with(names_in(place.group), place.beginning,
                      [&](const std::string& /*name*/, std::string_view rest) {
                          children.emplace(rest.substr(0, rest.find(other_separator)));
                      });
    }
    return {children.begin(), children.end()};
}

std::optional<std::string> NamesInFile::dataset(const std::string& path) const {
    for (const Place& place : places_of(path)) {
        if (place.beginning.empty() && file_.has_dataset(place.group)) return place.group;
    }
    return std::nullopt;
}

const std::vector<NamesInFile::Place>& NamesInFile::places_of(const std::string& path) const {
    const auto [entry, is_new] = places_.try_emplace(path);
    std::vector<Place>& places = entry->second;
    if (!is_new) return places;
    if (path.empty()) {
        places.push_back({.group = "/", .beginning = ""});
        return places;
    }
    const std::size_t end = path.rfind('/');
    const std::string parent = end == std::string::npos ? "" : path.substr(0, end);
    const std::string own = end == std::string::npos ? path : path.substr(end + 1);
    for (const Place& outer : places_of(parent)) {
        const std::string wanted = outer.beginning + own;
        bool is_beginning = false;
        for_each_with(names_in(outer.group), wanted, [&](const std::string& name, std::string_view rest) {
            if (rest.empty()) {
                const std::string group = outer.group == "/" ? "" : outer.group + "/";
                places.push_back({.group = group + name, .beginning = ""});
            }
            is_beginning = is_beginning || rest.starts_with(other_separator);
        });
        if (is_beginning) places.push_back({.group = outer.group, .beginning = wanted + other_separator});
    }
    return places;
}

const std::vector<std::string>& NamesInFile::names_in(const std::string& group) const {
    const auto [entry, is_new] = names_.try_emplace(group);
    if (is_new) entry->second = file_.children(group);
    return entry->second;
}

}  // namespace systole::frontend
