#include "sim/study/validate/lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "hw/machine/config_error.h"

namespace systole::validate {
namespace {

using machine::ConfigError;
using Json = nlohmann::json;

/// A place in braces: "{scales.text}".
struct ListPlace {
    std::size_t begin = 0;
    std::size_t length = 0;
    std::string_view list;
    std::string_view key;  ///< empty: the name
};

std::optional<ListPlace> next_list(std::string_view text, std::size_t from, const Lists& lists) {
    for (std::size_t begin = text.find('{', from); begin != std::string_view::npos;
         begin = text.find('{', begin + 1)) {
        const std::size_t end = text.find('}', begin);
        if (end == std::string_view::npos) return std::nullopt;
        const std::string_view inside = text.substr(begin + 1, end - begin - 1);
        const std::size_t dot = inside.find('.');
        const std::string_view list = inside.substr(0, dot);
        if (!lists.contains(list)) continue;
        return ListPlace{begin, end + 1 - begin, list,
                         dot == std::string_view::npos ? std::string_view() : inside.substr(dot + 1)};
    }
    return std::nullopt;
}

class Writer {
public:
    Writer(const Lists& lists, const std::string& file) : lists_(lists), file_(file) {}

    Json written(const Json& part) const {
        if (part.is_object()) {
            Json object = Json::object();
            for (const auto& [key, value] : part.items()) add_member(key, value, object);
            return object;
        }
        if (!part.is_array()) return part;
        Json array = Json::array();
        for (const Json& element : part) add_element(element, array);
        return array;
    }

private:
    void add_element(const Json& element, Json& to) const {
        if (!element.is_object() || !element.contains("each")) {
            to.push_back(written(element));
            return;
        }
        Json inner = element;
        std::vector<std::string> names;
        const Json& given = element["each"];
        for (const Json& name : given.is_array() ? given : Json::array({given})) {
            names.push_back(name.is_string() ? name.get<std::string>() : name.dump());
        }
        if (names.empty() || !lists_.contains(names.front())) {
            throw ConfigError(fmt::format("{}: each is {}; there is no such list", file_, given.dump()));
        }
        const std::string list = names.front();
        names.erase(names.begin());
        inner.erase("each");
        if (!names.empty()) inner["each"] = names;
        for (const Element& one : lists_.at(list)) add_element(with(inner, list, one), to);
    }

    void add_member(const std::string& key, const Json& value, Json& to) const {
        const auto place = next_list(key, 0, lists_);
        if (!place) {
            if (to.contains(key)) {
                throw ConfigError(
                    fmt::format("{}: \"{}\" is there twice, once by the name of a list", file_, key));
            }
            to[key] = written(value);
            return;
        }
        const std::string list(place->list);
        for (const Element& one : lists_.at(list)) {
            add_member(with(key, list, one), with(value, list, one), to);
        }
    }

    /// The text with the element in each place of the list.
    std::string with(const std::string& text, const std::string& list, const Element& element) const {
        std::string result = text;
        for (auto place = next_list(result, 0, lists_); place;
             place = next_list(result, place->begin, lists_)) {
            if (place->list != list) {
                ++place->begin;
                continue;
            }
            std::string instead = element.name;
            if (!place->key.empty()) {
                const auto found = element.more.find(std::string(place->key));
                if (found == element.more.end()) {
                    throw ConfigError(fmt::format("{}: \"{}\": {} of the list {} has no \"{}\"", file_, text,
                                                  element.name, list, place->key));
                }
                instead = found->second;
            }
            result.replace(place->begin, place->length, instead);
            place->begin += instead.size();
        }
        return result;
    }

    Json with(const Json& part, const std::string& list, const Element& element) const {
        if (part.is_string()) return with(part.get<std::string>(), list, element);
        if (part.is_array()) {
            Json array = Json::array();
            for (const Json& each : part) array.push_back(with(each, list, element));
            return array;
        }
        if (!part.is_object()) return part;
        Json object = Json::object();
        for (const auto& [key, value] : part.items()) {
            object[with(key, list, element)] = with(value, list, element);
        }
        return object;
    }

    const Lists& lists_;
    const std::string& file_;
};

Element read_element(const Json& given, const std::string& place) {
    Element element;
    if (given.is_string()) element.name = given.get<std::string>();
    if (given.is_object()) {
        for (const auto& [key, value] : given.items()) {
            const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
            (key == "name" ? element.name : element.more[key]) = text;
        }
    }
    if (!is_name(element.name)) {
        throw ConfigError(
            fmt::format("{} is {}; an element has a name of letters, digits and _", place, given.dump()));
    }
    return element;
}

}  // namespace

bool is_name(std::string_view text) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return !text.empty() && text.find_first_not_of(letters) == std::string_view::npos;
}

Lists read_lists(const Json& object, const std::string& file) {
    Lists lists;
    for (const auto& [name, elements] : object.items()) {
        const std::string place = fmt::format("{}: lists.{}", file, name);
        if (!is_name(name)) throw ConfigError(place + ": a name has letters, digits and _ alone");
        if (!elements.is_array() || elements.empty()) {
            throw ConfigError(fmt::format("{} is {}; it must be a list of elements", place, elements.dump()));
        }
        for (const Json& element : elements) {
            Element read = read_element(element, fmt::format("{}[{}]", place, lists[name].size()));
            if (std::ranges::find(lists[name], read.name, &Element::name) != lists[name].end()) {
                throw ConfigError(fmt::format("{}: {} is there twice", place, read.name));
            }
            lists[name].push_back(std::move(read));
        }
    }
    return lists;
}

Json written_out(const Json& json, const Lists& lists, const std::string& file) {
    return Writer(lists, file).written(json);
}

}  // namespace systole::validate
