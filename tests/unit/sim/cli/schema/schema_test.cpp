#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <sstream>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "hw/machine/machine_config.h"
#include "sim/cli/schema/documents.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/run_config.h"
#include "sim/run/training_file.h"
#include "sim/study/sweep/study_file.h"
#include "tests/support/source_dir.h"

using namespace systole;
using machine::KeyDescription;
using Type = KeyDescription::Type;
using Json = nlohmann::ordered_json;

namespace {

/// A file of a document, read as its command reads it.
void read(const std::string& document, const nlohmann::json& object) {
    if (document == "machine") {
        machine::read_machine(object, "test.json");
    } else if (document == "baseline") {
        baselines::read_baseline(object, "test.json");
    } else if (document == "study") {
        sweep::parse_study(object.dump(), "test.json");
    } else if (document == "training") {
        run::read_training(object, "test.json");
    } else {
        std::vector<run::Setting> settings;
        for (const auto& [key, value] : object.items()) settings.push_back({key, value});
        run::read_run({}, settings);
    }
}

/// The error of a file that has this one key, with an object as value: no key takes one, but for sections.
std::string error_with_odd_value(const schema::Document& document, const std::string& path) {
    nlohmann::json object{{"schema", document.schema}};
    if (path.find(".dram.") != std::string::npos) object["weight_memory"]["model"] = "dram";
    if (document.name == "training") object["images"] = "x";
    // The family that reads the key, or one of the sections around it.
    const std::vector<KeyDescription>* keys = &document.keys;
    std::istringstream names(path);
    for (std::string name; std::getline(names, name, '.');) {
        const auto key = std::ranges::find(*keys, name, &KeyDescription::name);
        if (key == keys->end()) break;
        for (const char* const family : {"edge_tpu", "tensor_core"}) {
            if (key->rule.find("only where family is \"" + std::string(family) + "\"") != std::string::npos) {
                object["family"] = family;
            }
        }
        keys = &key->keys;
    }
    std::string pointer = "/" + path;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    object[nlohmann::json::json_pointer(pointer)] = {{"odd", 1}};
    try {
        read(document.name, object);
    } catch (const machine::ConfigError& error) {
        return error.what();
    }
    return "no error";
}

/// The keys that a file of effective configuration has.
void collect(const Json& object, const std::string& before, std::set<std::string>& paths) {
    for (const auto& [key, value] : object.items()) {
        if (key == "sources" || key == "machine_settings") continue;
        if (value.is_object()) {
            collect(value, before + key + ".", paths);
        } else {
            paths.insert(before + key);
        }
    }
}

void check_contained(const Json& effective, const schema::Document& document) {
    const std::vector<std::string> known = schema::key_paths(document);
    std::set<std::string> written;
    collect(effective, "", written);
    CHECK(written.size() > 5);
    for (const std::string& path : written) {
        INFO(path);
        CHECK(std::count(known.begin(), known.end(), path) == 1);
    }
}

std::filesystem::path configs() {
    return std::filesystem::path(tests::source_dir()) / "configs";
}

void check_sentences(const std::vector<KeyDescription>& keys) {
    for (const KeyDescription& key : keys) {
        INFO(key.name);
        CHECK_FALSE(key.meaning.empty());
        CHECK_FALSE(schema::values_text(key).empty());
        CHECK(key.meaning.back() != '.');
        check_sentences(key.keys);
    }
}

}  // namespace

TEST_CASE("Each key of the reference is one that the reader reads", "[schema]") {
    int keys = 0;
    for (const schema::Document& document : schema::documents()) {
        for (const std::string& path : schema::key_paths(document)) {
            ++keys;
            const std::string error = error_with_odd_value(document, path);
            INFO(document.name << ": " << path << ": " << error);
            // An error about the key's value, not that the key is unknown.
            CHECK_THAT(error, Catch::Contains(path + " is {\"odd\":1}; it must be"));
        }
    }
    CHECK(keys > 100);
}

TEST_CASE("Each key that is read is in the reference", "[schema]") {
    for (const auto& entry : std::filesystem::directory_iterator(configs() / "machines")) {
        check_contained(machine::to_json(machine::read_machine(entry.path())), schema::document("machine"));
    }
    for (const auto& entry : std::filesystem::directory_iterator(configs() / "baselines")) {
        check_contained(baselines::to_json(baselines::read_baseline(entry.path())),
                        schema::document("baseline"));
    }
    check_contained(run::to_json(run::read_run(configs() / "runs/mnist_cnn.json", {})),
                    schema::document("run"));
}

TEST_CASE("Every key has a sentence and its valid values", "[schema]") {
    for (const schema::Document& document : schema::documents()) check_sentences(document.keys);
}

TEST_CASE("A key's default, values and rule are the declaration's", "[schema]") {
    const auto& keys = schema::document("machine").keys;
    const auto named = [](const std::vector<KeyDescription>& all, const std::string& name) {
        const auto found =
            std::find_if(all.begin(), all.end(), [&](const KeyDescription& key) { return key.name == name; });
        REQUIRE(found != all.end());
        return *found;
    };
    CHECK(schema::default_text(named(keys, "schema")) == "needed");
    CHECK(schema::default_text(named(keys, "clock_mhz")) == "700.0");
    const auto unit = named(keys, "matrix_unit").keys;
    CHECK(schema::values_text(named(unit, "rows")) == "1 to 4096");
    CHECK(schema::values_text(named(unit, "engine")) == "wavefront or pe");
    CHECK(schema::default_text(named(unit, "engine")) == "wavefront");
    const auto memory = named(keys, "weight_memory").keys;
    CHECK(schema::default_text(named(memory, "bytes")) == "8589934592");
    CHECK(schema::values_text(named(memory, "bytes")) == "1 to 2^48");
    CHECK(schema::values_text(named(memory, "whole_tiles")) == "true or false");
    CHECK_THAT(schema::meaning_text(named(memory, "dram")),
               Catch::Contains("only where weight_memory.model is"));
    CHECK_THAT(schema::meaning_text(named(named(keys, "accumulators").keys, "banks")),
               Catch::Contains("(it must divide accumulators.rows)"));
    CHECK(schema::default_text(named(named(keys, "energy").keys, "mac_pj")) == "published table");
    // 0 in a baseline means "not known". No file can contain it, so it is not a default value.
    CHECK(schema::default_text(named(schema::document("baseline").keys, "clock_mhz")) == "-");
    CHECK(schema::values_text(named(schema::document("run").keys, "random_input")) == "at least 0");
}

TEST_CASE("The JSON Schema has the rules of the reader", "[schema]") {
    const Json machine = schema::json_schema(schema::document("machine"));
    CHECK(machine["required"] == Json::array({"schema"}));
    CHECK(machine["properties"]["schema"]["const"] == "sim.machine/1");
    CHECK(machine["additionalProperties"] == false);
    const Json& unit = machine["properties"]["matrix_unit"];
    CHECK(unit["additionalProperties"] == false);
    CHECK(unit["properties"]["rows"]["type"] == "integer");
    CHECK(unit["properties"]["rows"]["maximum"] == 4096);
    CHECK(unit["properties"]["rows"]["default"] == 256);
    CHECK(unit["properties"]["engine"]["enum"] == Json::array({"wavefront", "pe"}));
    const Json run = schema::json_schema(schema::document("run"));
    CHECK(run["properties"]["input"]["anyOf"].size() == 2);
    CHECK(run["properties"]["trace"]["properties"].contains("kinds"));
}

TEST_CASE("The reference fits a terminal", "[schema]") {
    for (const std::size_t columns : {60U, 80U, 140U}) {
        for (const schema::Document& document : schema::documents()) {
            std::istringstream lines(schema::reference_text(document, {.columns = columns}));
            for (std::string line; std::getline(lines, line);) {
                INFO(line);
                CHECK(line.size() <= columns);
            }
        }
    }
}

TEST_CASE("The keys of --set are completed", "[schema]") {
    const std::vector<std::string> keys = schema::settable_keys();
    const auto has = [&](const char* key) { return std::count(keys.begin(), keys.end(), key) == 1; };
    CHECK(has("batch"));
    CHECK(has("trace.from"));
    CHECK(has("machine.weight_memory.dram.banks"));
    CHECK_FALSE(has("schema"));
    CHECK_FALSE(has("machine.schema"));
    CHECK_THROWS_AS(schema::document("sweep"), machine::ConfigError);
}
