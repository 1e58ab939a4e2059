#include "sim/run/record/record.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "sim/run/record/bytes.h"
#include "sim/run/record/json.h"
#include "tests/support/files.h"
#include "tests/unit/sim/run/record/every_field.h"
#include "tests/unit/sim/run/record/machine_variants.h"

using namespace systole;
using run::Json;
using run::RunRecord;
using run::RunSpec;

TEST_CASE("A record with every field goes to bytes and to JSON text, and back", "[run][record]") {
    const auto record = tests::filled<RunRecord>();
    const std::string bytes = run::to_bytes(record);
    CHECK(run::to_bytes(run::read_record(bytes)) == bytes);
    const std::string text = run::to_json(record).dump();
    CHECK(run::to_bytes(run::from_json<RunRecord>(Json::parse(text))) == bytes);
    CHECK(bytes.size() < text.size());
    std::string of_json;
    Json::to_cbor(run::to_json(record), of_json);
    CHECK(of_json == bytes);
    CHECK(run::to_bytes(RunRecord()) != bytes);
}

TEST_CASE("Each field of a record is written, and read back", "[run][record]") {
    const auto original = tests::filled<RunRecord>();
    const std::string bytes = run::to_bytes(original);
    const std::string compared = run::compared_bytes(original);
    std::set<std::string> places;
    for (std::size_t which = 0;; ++which) {
        RunRecord record = original;
        tests::Changer changer(which);
        visit_fields(changer, record);
        if (changer.changed.empty()) break;
        INFO(changer.changed);
        places.insert(changer.changed);
        const std::string other = run::to_bytes(record);
        CHECK(other != bytes);
        CHECK((run::compared_bytes(record) != compared) == changer.is_compared);
        if (!changer.changed.ends_with("schema") && !changer.changed.ends_with("activity")) {
            CHECK(run::to_bytes(run::read_record(other)) == other);
        }
    }
    CHECK(places.contains("spec.data.input.content.hash"));
    CHECK(places.contains("counters.all.by_tag"));
    CHECK(places.contains("speed.total"));
}

TEST_CASE("A spec that differs in any one field, except labels, has another key", "[run][record]") {
    const auto original = tests::filled<RunSpec>();
    const std::string key = run::key_of(original);
    CHECK(key.size() == 64);
    CHECK(run::key_of(run::read_spec(run::to_bytes(original))) == key);
    std::set<std::string> labels;
    std::set<std::string> keys{key};
    for (std::size_t which = 0;; ++which) {
        RunSpec spec = original;
        tests::Changer changer(which);
        visit_fields(changer, spec);
        if (changer.changed.empty()) break;
        INFO(changer.changed);
        if (changer.is_compared) {
            CHECK(keys.insert(run::key_of(spec)).second);
        } else {
            CHECK(run::key_of(spec) == key);
            labels.insert(changer.changed);
        }
    }
    CHECK(labels == std::set<std::string>{"data.calibration.path.text", "data.input.content.path.text",
                                          "data.label_names.path.text", "data.labels.path.text",
                                          "labels.machine_settings", "labels.machine_settings.key",
                                          "labels.machine_settings.value", "labels.program", "labels.run",
                                          "network.path.text", "program.path.text"});
}

TEST_CASE("A machine that differs in any one key makes another spec", "[run][record]") {
    RunSpec spec;
    spec.machine = tests::machine_of_one_format(GENERATE("bandwidth", "dram"));
    std::set<std::string> keys{run::key_of(spec)};
    const std::vector<tests::MachineVariant> variants = tests::machine_variants(spec.machine);
    CHECK(variants.size() > 40);
    for (const tests::MachineVariant& variant : variants) {
        INFO(variant.place);
        spec.machine = variant.machine;
        CHECK(keys.insert(run::key_of(spec)).second);
    }
}

TEST_CASE("An invalid record is an error that names the field", "[run][record]") {
    Json json = run::to_json(RunRecord());
    const auto error = [&] {
        try {
            run::from_json<RunRecord>(json);
        } catch (const run::RecordError& caught) {
            return std::string(caught.what());
        }
        return std::string("none");
    };
    CHECK(error() == "none");
    SECTION("a missing field") {
        json["program"].erase("batch");
        CHECK(error() == "program: batch: it is missing");
    }
    SECTION("a further one") {
        json["phase"] = 1;
        CHECK(error() == "it has unknown keys");
    }
    SECTION("a negative number") {
        json["cycles"] = -1;
        CHECK(error() == "cycles: it is below 0");
    }
    SECTION("a number too large for its type") {
        json["program"]["batch"] = std::uint64_t{1} << 40U;
        CHECK(error() == "program: batch: it is out of range");
    }
    SECTION("a name of no number format") {
        json["host_work"] = {{{"kind", ""}, {"layer", ""}, {"elements", 1U}, {"type", "int7"}}};
        CHECK(error() == "host_work: type: \"int7\" is none of its names");
    }
    CHECK_THROWS_AS(run::read_record("no CBOR"), run::RecordError);
    RunRecord other;
    other.schema = "sim.run_record/0";
    CHECK_THROWS_AS(run::read_record(run::to_bytes(other)), run::RecordError);
}

TEST_CASE("A file's content is its bytes and its name, independent of its folder", "[run][record]") {
    // FIPS 180-2, appendix B.1.
    CHECK(run::hash_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const tests::Folder one;
    const tests::Folder other;
    const run::Content here = run::content_of(one.file("net.json", "abc"));
    const run::Content there = run::content_of(other.file("net.json", "abc"));
    CHECK(here.name == "net.json");
    CHECK(here.hash == run::hash_of("abc"));
    CHECK(here.path.text != there.path.text);
    CHECK(run::compared_bytes(here) == run::compared_bytes(there));
    CHECK(run::compared_bytes(run::content_of(other.file("net.json", "abd"))) != run::compared_bytes(here));
    CHECK(run::content_of(one / "missing").hash.empty());
    const std::string folder = run::content_of(one / ".").hash;
    CHECK(folder.size() == 64);
    one.file("more.png", "x");
    CHECK(run::content_of(one / ".").hash != folder);
}
