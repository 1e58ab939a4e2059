// The seeds of tests/fuzz/record_fuzz.cpp are a record and a spec with every field. A seed that can no longer
// be read reaches only the first lines of the reader, and no fuzzer would tell.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "sim/run/record/bytes.h"
#include "sim/run/record/record.h"
#include "sim/run/record/spec.h"
#include "tests/support/source_dir.h"
#include "tests/unit/sim/run/record/every_field.h"

using namespace systole;

namespace {

const std::filesystem::path seeds = std::filesystem::path(tests::source_dir()) / "tests/fuzz/seeds/record";

template <class Struct>
void check_seed(const std::string& name, Struct (*read)(std::string_view), const Struct& value) {
    const std::filesystem::path path = seeds / name;
    if (std::getenv("SYSTOLE_WRITE_SEEDS") != nullptr) {
        std::ofstream file(path, std::ios::binary);
        file << run::to_bytes(value);
        REQUIRE(file.good());
    }
    INFO(path
         << "; if the fields have changed: SYSTOLE_WRITE_SEEDS=1 build/dev/unit_sim_run_record \"Seeds*\"");
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::string own;
    REQUIRE_NOTHROW(own = run::to_bytes(read(bytes)));
    CHECK(own == bytes);
}

}  // namespace

TEST_CASE("Seeds of the record's fuzzer are a record and a spec", "[run][record]") {
    auto record = tests::filled<run::RunRecord>();
    auto spec = tests::filled<run::RunSpec>();
    // Most bytes would be texts of sources, which nothing interprets.
    record.spec.machine.sources.clear();
    spec.machine.sources.clear();
    check_seed("record.cbor", run::read_record, record);
    check_seed("spec.cbor", run::read_spec, spec);
}
