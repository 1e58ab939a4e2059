// Reads the modules that JAX made for a TPU (tests/judges/hlo/make_modules.py), and compares their texts with
// the reviewed ones beside them.
#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "compiler/frontend/hlo.h"
#include "compiler/frontend/hlo/gzip.h"
#include "tests/support/files.h"
#include "tests/support/source_dir.h"

namespace systole::tests {
namespace {

namespace fs = std::filesystem;

TEST_CASE("Modules of JAX read as their reviewed texts", "[hlo]") {
    const bool writes = std::getenv("SYSTOLE_WRITE_GOLDEN") != nullptr;
    std::size_t modules = 0;
    std::set<hlo::Opcode> met;
    for (const auto& entry : fs::directory_iterator(fs::path(source_dir()) / "tests/golden/hlo")) {
        if (entry.path().extension() != ".hlo") continue;
        ++modules;
        INFO(entry.path());
        const hlo::Module module = hlo::read_module(entry.path());
        for (const hlo::Computation& computation : module.computations) {
            for (const hlo::Instruction& instruction : computation.instructions)
                met.insert(instruction.opcode);
        }
        const std::string text = to_text(module);
        const fs::path golden = fs::path(entry.path()).replace_extension(".txt");
        if (writes) std::ofstream(golden) << text;
        CHECK(text == text_in(golden));
    }
    CHECK(modules >= 24);
    // Those that the modules do not have: JAX decomposes batch normalizations, and writes no copies or maps.
    const std::set<hlo::Opcode> missing{hlo::Opcode::BatchNormGrad,     hlo::Opcode::BatchNormInference,
                                        hlo::Opcode::BatchNormTraining, hlo::Opcode::Copy,
                                        hlo::Opcode::Logistic,          hlo::Opcode::Map,
                                        hlo::Opcode::ReplicaId};
    for (std::size_t i = 0; i < hlo::opcode_count; ++i) {
        const auto opcode = static_cast<hlo::Opcode>(i);
        INFO(hlo::traits_of(opcode).name);
        CHECK(met.contains(opcode) != missing.contains(opcode));
    }
}

/// The bytes as a gzip file, as zlib writes it.
std::string compressed(const std::filesystem::path& path, const std::string& bytes) {
    gzFile file = gzopen(path.c_str(), "wb9");
    REQUIRE(file != nullptr);
    REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) ==
            static_cast<int>(bytes.size()));
    REQUIRE(gzclose(file) == Z_OK);
    return text_in(path);
}

TEST_CASE("A module reads from gzip, too, if all of it is there", "[hlo]") {
    const Folder folder;
    const fs::path golden = fs::path(source_dir()) / "tests/golden/hlo/attention.hlo";
    const std::string module = text_in(golden);
    const std::string gzip = compressed(folder / "attention.hlo.gz", module);
    REQUIRE(gzip.size() < module.size());
    CHECK(to_text(hlo::read_module(folder / "attention.hlo.gz")) == to_text(hlo::read_module(golden)));
    CHECK(hlo::is_hlo(gzip.substr(0, 64)));
    constexpr std::size_t trailer = 8;  // checksum and size
    const std::string is_not_whole = "it is damaged: its gzip is not whole";
    for (const std::size_t kept : {std::size_t{2}, gzip.size() / 2, gzip.size() - trailer, gzip.size() - 1}) {
        INFO(kept);
        CHECK_THROWS_WITH(hlo::parse_module(gzip.substr(0, kept)), is_not_whole);
    }
    std::string changed = gzip;
    changed[gzip.size() - trailer] = static_cast<char>(changed[gzip.size() - trailer] ^ 1);
    CHECK_THROWS_WITH(hlo::parse_module(changed), is_not_whole);
    CHECK_THROWS_WITH(hlo::parse_module(gzip + '\x01'), is_not_whole);
    CHECK_THROWS_WITH(hlo::parse_module(compressed(folder / "longer.hlo.gz", module + '\x01')),
                      "it is damaged: it is no serialized HloModuleProto");
}

TEST_CASE("A gzip file may not hold more than is allowed", "[hlo]") {
    const Folder folder;
    const std::string text(100000, 'x');
    const std::string gzip = compressed(folder / "text.gz", text);
    CHECK(hlo::gunzip(gzip, text.size()) == text);
    CHECK_THROWS_WITH(hlo::gunzip(gzip, text.size() - 1),
                      "its gzip holds more than 99999 bytes; modules have fewer");
}

TEST_CASE("A file that cannot be read is named", "[hlo]") {
    const Folder folder;
    const std::string damaged = folder.file("damaged.hlo", "HloModule text, entry_computation_layout={}");
    CHECK_THROWS_WITH(hlo::read_module(damaged),
                      damaged + ": it is damaged: it is no serialized HloModuleProto");
    const std::string absent = (folder / "absent.hlo").string();
    CHECK_THROWS_WITH(hlo::read_module(absent), Catch::StartsWith(absent + ": "));
    const std::string empty = folder.file("empty.hlo", "");
    CHECK_THROWS_WITH(hlo::read_module(empty),
                      empty + ": its entry_computation_id is 0; it must be that of one of its computations");
}

}  // namespace
}  // namespace systole::tests
