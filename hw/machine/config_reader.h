#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/config_fields.h"

namespace systole::machine {

/// The text of a file. Throws ConfigError if it is missing or not a regular file.
std::string read_json_text(const std::filesystem::path& path);
/// Reads a JSON file. Throws ConfigError if it is missing, not JSON, or not an object.
nlohmann::json read_json_object(const std::filesystem::path& path);
/// The same from text; messages begin with `file`.
nlohmann::json parse_json_object(std::string_view text, const std::string& file);
/// The same, with the keys in the order of the text.
nlohmann::ordered_json parse_ordered_json_object(std::string_view text, const std::string& file);

/// Reads the fields of one JSON object, checking types and ranges: json::get alone would turn -1 into
/// 4294967295 and 2.7 into 2. A structure declares its fields once in a function template
/// `describe(visitor, config)`; this class is the visitor that reads.
class ConfigReader {
public:
    /// Messages begin with file and path: "tpu_v1.json: weight_fifo".
    ConfigReader(const nlohmann::json& object, std::string file, std::string path = {});

    /// To be called before all fields are read, so that a file of another kind is named as such. Throws
    /// ConfigError unless the key "schema" is `schema`.
    void check_schema(std::string_view schema);

    void field(const Field& field, std::uint32_t& value, Range range);
    void field(const Field& field, std::uint64_t& value, Range range);
    void field(const Field& field, double& value, RealRange range);
    /// A number with a default that is no number; `value` stays empty if the key is absent.
    void field(const Field& field, std::optional<double>& value, RealRange range);
    void field(const Field& field, bool& value);
    void field(const Field& field, std::string& value);
    /// A list of texts; a single text may stand for a list of one.
    void field(const Field& field, std::vector<std::string>& value);
    /// A list of numbers; a single number may stand for a list of one.
    void field(const Field& field, std::vector<double>& value, RealRange range);
    /// An enumeration, given as one of `names`, which are in the order of the values.
    template <class Enum>
    void choice(const Field& field, Enum& value, std::span<const std::string_view> names) {
        auto index = static_cast<std::size_t>(value);
        read_choice(field, index, names);
        value = static_cast<Enum>(index);
    }
    /// The same with a value that is usual: the writer leaves it out.
    template <class Enum>
    void usual_choice(const Field& field, Enum& value, std::span<const std::string_view> names) {
        choice(field, value, names);
    }
    /// An object of its own, described by `describe(visitor, config)`.
    template <class Config>
    void section(const Field& field, Config& config) {
        if (const nlohmann::json* object = find_object(field)) {
            ConfigReader reader(*object, file_, path_of(field.key));
            describe(reader, config);
            reader.check_keys();
        }
    }
    /// An optional object of its own.
    template <class Config>
    void section(const Field& field, std::optional<Config>& config) {
        if (has(field.key) && !config) config.emplace();
        Config absent;
        section(field, config ? *config : absent);
    }
    /// A list of objects, each described by `describe(visitor, config)`. A given list replaces the default
    /// list as a whole.
    template <class Config>
    void sections(const Field& field, std::vector<Config>& configs) {
        const nlohmann::json* list = find_list(field);
        if (list == nullptr) return;
        configs.clear();
        for (const nlohmann::json& object : *list) {
            const std::string path = path_of(field.key) + "[" + std::to_string(configs.size()) + "]";
            ConfigReader reader(object, file_, path);
            describe(reader, configs.emplace_back());
            reader.check_keys();
        }
    }
    /// Free text by key (the sources of numbers).
    void texts(const Field& field, std::map<std::string, std::string>& value);
    /// Values of any type by key.
    void values(const Field& field, std::map<std::string, nlohmann::json>& value);
    /// A key that exists only under a condition: `visit` visits it if `holds`; otherwise a file that gives it
    /// is in error with this rule.
    template <class Visit>
    void only_where(bool holds, const Field& field, std::string_view rule, const Visit& visit) {
        if (holds) {
            visit(field);
        } else if (find(field) != nullptr) {
            fail(field.key, rule);
        }
    }
    /// To be called after all fields are read. Throws ConfigError for a key that no field asked for, with the
    /// most similar known key, and for a needed key that is missing.
    void check_keys() const;
    /// Throws ConfigError if the key is missing.
    void require(std::string_view key) const;

    bool has(std::string_view key) const { return object_.contains(std::string(key)); }
    const std::string& file() const { return file_; }
    std::string path_of(std::string_view key) const;
    [[noreturn]] void fail(std::string_view key, std::string_view rule) const;

private:
    const nlohmann::json* find(const Field& field);
    const nlohmann::json* find_object(const Field& field);
    const nlohmann::json* find_list(const Field& field);
    void read_choice(const Field& field, std::size_t& index, std::span<const std::string_view> names);
    std::uint64_t whole_number(const Field& field, const nlohmann::json& value, Range range) const;

    const nlohmann::json& object_;
    std::string file_;
    std::string path_;
    std::vector<std::string> known_;
    std::vector<std::string> missing_;
};

/// The visitor that writes the effective configuration as JSON.
class ConfigWriter {
public:
    void field(const Field& field, const std::uint32_t& value, Range) {
        object_[std::string(field.key)] = value;
    }
    void field(const Field& field, const std::uint64_t& value, Range) {
        object_[std::string(field.key)] = value;
    }
    void field(const Field& field, const double& value, RealRange) {
        object_[std::string(field.key)] = value;
    }
    void field(const Field& field, const std::optional<double>& value, RealRange) {
        if (value) object_[std::string(field.key)] = *value;
    }
    void field(const Field& field, const bool& value) { object_[std::string(field.key)] = value; }
    void field(const Field& field, const std::string& value) { object_[std::string(field.key)] = value; }
    void field(const Field& field, const std::vector<std::string>& value) {
        object_[std::string(field.key)] = value;
    }
    void field(const Field& field, const std::vector<double>& value, RealRange) {
        object_[std::string(field.key)] = value;
    }
    template <class Enum>
    void choice(const Field& field, const Enum& value, std::span<const std::string_view> names) {
        object_[std::string(field.key)] = names[static_cast<std::size_t>(value)];
    }
    template <class Enum>
    void usual_choice(const Field& field, const Enum& value, std::span<const std::string_view> names) {
        if (value != Enum()) choice(field, value, names);
    }
    template <class Config>
    void section(const Field& field, Config& config) {
        ConfigWriter writer;
        describe(writer, config);
        object_[std::string(field.key)] = writer.object();
    }
    template <class Config>
    void section(const Field& field, std::optional<Config>& config) {
        if (config) section(field, *config);
    }
    template <class Config>
    void sections(const Field& field, std::vector<Config>& configs) {
        nlohmann::ordered_json& list = object_[std::string(field.key)] = nlohmann::ordered_json::array();
        for (Config& config : configs) {
            ConfigWriter writer;
            describe(writer, config);
            list.push_back(writer.object());
        }
    }
    void texts(const Field& field, const std::map<std::string, std::string>& value) {
        if (!value.empty()) object_[std::string(field.key)] = value;
    }
    void values(const Field& field, const std::map<std::string, nlohmann::json>& value) {
        if (!value.empty()) object_[std::string(field.key)] = value;
    }
    template <class Visit>
    void only_where(bool holds, const Field& field, std::string_view, const Visit& visit) {
        if (holds) visit(field);
    }

    const nlohmann::ordered_json& object() const { return object_; }

private:
    nlohmann::ordered_json object_ = nlohmann::ordered_json::object();
};

}  // namespace systole::machine
