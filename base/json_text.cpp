#include "base/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/text_encoding.h"

namespace systole {
namespace {

/// Follows a parser through a text and knows the place of each key: "layers[2].name".
class KeyPlaces {
public:
    void open(bool is_list) { levels_.push_back({.is_list = is_list, .keys = {}, .key = {}}); }
    void close() {
        levels_.pop_back();
        next_element();
    }
    void next_element() {
        if (!levels_.empty()) ++levels_.back().index;
    }
    /// Whether the open object has the key for the first time.
    bool add_key(const std::string& key) {
        levels_.back().key = key;
        return levels_.back().keys.insert(key).second;
    }

    std::size_t depth() const { return levels_.size(); }
    std::string place() const {
        std::string text;
        for (const Level& level : levels_) {
            text += level.is_list ? fmt::format("[{}]", level.index)
                                  : fmt::format("{}{}", text.empty() ? "" : ".", level.key);
        }
        return text;
    }

private:
    struct Level {
        bool is_list = false;
        std::set<std::string> keys;  ///< of an object
        std::string key;             ///< of an object: the current one
        std::size_t index = 0;       ///< of a list: the current element
    };
    std::vector<Level> levels_;
};

/// A key in a message: on one line and of limited length.
std::string shown(std::string text) {
    constexpr std::size_t longest = 120;
    std::replace_if(
        text.begin(), text.end(), [](unsigned char letter) { return letter < ' ' || letter == 0x7f; }, '?');
    return text.size() > longest ? text.substr(0, longest) + "..." : text;
}

/// Checks the keys and the depth of a text. The library's parser can call a function for each value, too, but
/// then looks through the whole list around each one.
template <class Json>
class Checker final : public nlohmann::json_sax<Json> {
public:
    explicit Checker(std::size_t deepest) : deepest_(deepest) {}

    bool null() override { return value(); }
    bool boolean(bool /*value*/) override { return value(); }
    bool number_integer(typename Json::number_integer_t /*value*/) override { return value(); }
    bool number_unsigned(typename Json::number_unsigned_t /*value*/) override { return value(); }
    bool number_float(typename Json::number_float_t /*value*/, const std::string& /*text*/) override {
        return value();
    }
    bool string(std::string& /*value*/) override { return value(); }
    bool binary(typename Json::binary_t& /*value*/) override { return value(); }
    bool start_object(std::size_t /*size*/) override { return open(false); }
    bool start_array(std::size_t /*size*/) override { return open(true); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(std::string& name) override {
        if (places_.add_key(name)) return true;
        throw JsonError(
            fmt::format("has the key {} twice; each key must be given once", shown(places_.place())));
    }
    /// The parser that makes values finds the same fault, and says it.
    bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                     const nlohmann::json::exception& /*error*/) override {
        return false;
    }

private:
    bool value() {
        places_.next_element();
        return true;
    }
    bool open(bool is_list) {
        places_.open(is_list);
        if (places_.depth() > deepest_) throw JsonError(fmt::format("is nested more than {} deep", deepest_));
        return true;
    }
    bool close() {
        places_.close();
        return true;
    }

    std::size_t deepest_;
    KeyPlaces places_;
};

/// The line of a comment at which a parser stopped, before byte `stopped` (from 1); 0 if it was another one.
std::size_t line_of_comment(std::string_view text, std::size_t stopped) {
    const std::string_view before = text.substr(0, stopped);
    const std::size_t begin = before.find_last_not_of(" \t\r\n");
    if (begin == std::string_view::npos || (text[begin] != '/' && text[begin] != '#')) return 0;
    return 1 + static_cast<std::size_t>(std::ranges::count(before.substr(0, begin), '\n'));
}

template <class Json>
Json parse(std::string_view text, std::size_t deepest) {
    if (is_utf16(text)) throw JsonError("is UTF-16; JSON is read as UTF-8");
    Checker<Json> checker(deepest);
    Json::sax_parse(text, &checker);
    try {
        return Json::parse(text);
    } catch (const nlohmann::json::exception& error) {
        if (const auto* const syntax = dynamic_cast<const nlohmann::json::parse_error*>(&error)) {
            if (const std::size_t line = line_of_comment(text, syntax->byte); line > 0) {
                throw JsonError(fmt::format("has a comment in line {}; JSON has none", line));
            }
        }
        // The library quotes the text as it is, also where that is no text.
        std::string what = error.what();
        std::replace_if(
            what.begin(), what.end(), [](unsigned char letter) { return letter < ' ' || letter > '~'; }, '?');
        const auto start = what.find("] ");  // removes the library's "[json.exception...]"
        throw JsonError(
            fmt::format("is not JSON: {}", start == std::string::npos ? what : what.substr(start + 2)));
    }
}

}  // namespace

template <class Json>
Json parse_json(std::string_view text, std::size_t deepest) {
    return parse<Json>(text, deepest);
}

template nlohmann::json parse_json(std::string_view text, std::size_t deepest);
template nlohmann::ordered_json parse_json(std::string_view text, std::size_t deepest);

}  // namespace systole
