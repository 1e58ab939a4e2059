#include "sim/study/validate/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/study/validate/lists.h"

namespace systole::validate {
namespace {

using machine::ConfigError;
using Json = nlohmann::json;

constexpr double highest_number = 1e12;
constexpr std::array<std::string_view, 3> confidences{"seen", "digitized", "derived"};

std::string below(const std::string& path, const std::string& key) {
    return fmt::format("{}.{}", path, key);
}

class Reader {
public:
    Reader(const std::string& file, Published& published) : file_(file), published_(published) {}

    void section(const std::string& path, const Json& object) {
        if (!object.is_object()) fail(path, object, "it must be an object: source, confidence and numbers");
        for (const char* const key : {"source", "confidence"}) {
            if (!object.contains(key)) {
                throw ConfigError(fmt::format("{}: {}.{} is missing; it is needed", file_, path, key));
            }
        }
        if (!object["source"].is_string()) fail(path + ".source", object["source"], "it must be a text");
        const Json& confidence = object["confidence"];
        if (std::ranges::count(confidences, confidence.is_string() ? confidence.get<std::string>() : "") ==
            0) {
            fail(path + ".confidence", confidence,
                 fmt::format("it must be one of \"{}\"", fmt::join(confidences, "\", \"")));
        }
        for (const auto& [key, value] : object.items()) {
            if (key == "source" || key == "confidence") continue;
            if (key != "host") {
                number(below(path, key), key, value);
                continue;
            }
            if (!value.is_string()) fail(path + ".host", value, "it must be a text");
            published_.hosts[path] = value.get<std::string>();
        }
    }

private:
    void number(const std::string& path, const std::string& key, const Json& value) {
        if (!is_name(key)) {
            throw ConfigError(fmt::format("{}: {}: a key has letters, digits and _ alone", file_, path));
        }
        if (value.is_object()) {
            for (const auto& [inner, number_inside] : value.items())
                number(below(path, inner), inner, number_inside);
            return;
        }
        const double highest = path.find("percent") == std::string::npos ? highest_number : 100.0;
        if (!value.is_number() || !(value.get<double>() >= 0.0) || value.get<double>() > highest) {
            fail(path, value, fmt::format("it must be a number from 0 to {}", highest));
        }
        published_.numbers[path] = value.get<double>();
    }

    [[noreturn]] void fail(const std::string& path, const Json& value, const std::string& rule) const {
        throw ConfigError(fmt::format("{}: {} is {}; {}", file_, path, value.dump(), rule));
    }

    const std::string& file_;
    Published& published_;
};

}  // namespace

double Published::at(std::string_view path) const {
    const auto found = numbers.find(path);
    if (found == numbers.end()) throw std::logic_error(fmt::format("{} is no published number", path));
    return found->second;
}

Published read_published(const Json& object, const std::string& file) {
    machine::ConfigReader reader(object, file);
    Published published;
    reader.check_schema("sim.published/1");
    reader.field(machine::needed("name", "", ""), published.name);
    reader.field(machine::needed("title", "", ""), published.title);
    reader.require("name");
    reader.require("title");
    Reader sections(file, published);
    for (const auto& [key, section] : object.items()) {
        if (key == "schema" || key == "name" || key == "title") continue;
        if (!is_name(key)) {
            throw ConfigError(fmt::format("{}: {}: a key has letters, digits and _ alone", file, key));
        }
        sections.section(key, section);
    }
    return published;
}

Published read_published(const std::filesystem::path& path) {
    return read_published(machine::read_json_object(path), path.string());
}

}  // namespace systole::validate
