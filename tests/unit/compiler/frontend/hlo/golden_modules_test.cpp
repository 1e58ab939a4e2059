// Reads the modules that JAX made for a TPU (tests/judges/hlo/make_modules.py), and compares their texts with
// the reviewed ones beside them.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "compiler/frontend/hlo.h"
#include "compiler/frontend/hlo/text.h"
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
