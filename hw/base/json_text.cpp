#include "hw/base/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

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

template <class Json>
Json parse(std::string_view text, std::size_t deepest) {
    using Event = typename Json::parse_event_t;
    KeyPlaces places;
    const auto follow = [&](int /*depth*/, Event event, Json& parsed) {
        switch (event) {
            case Event::object_start:
            case Event::array_start:
                places.open(event == Event::array_start);
                if (places.depth() > deepest)
                    throw JsonError(fmt::format("is nested more than {} deep", deepest));
                break;
            case Event::object_end:
            case Event::array_end:
                places.close();
                break;
            case Event::key:
                if (!places.add_key(parsed.template get_ref<const std::string&>())) {
                    throw JsonError(fmt::format("has the key {} twice; each key must be given once",
                                                shown(places.place())));
                }
                break;
            case Event::value:
                places.next_element();
                break;
        }
        return true;
    };
    try {
        return Json::parse(text, follow);
    } catch (const nlohmann::json::exception& error) {
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
