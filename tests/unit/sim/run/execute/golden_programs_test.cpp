// Compares the programs of drawn networks on odd machines with tests/golden/programs.txt. Answers are tested
// elsewhere; this notices what changes only how a network is computed: another block, another order, a wait
// too many. After an intended change, SYSTOLE_WRITE_GOLDEN=1 writes the file again; its diff shows how many
// cycles were won or lost.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <string_view>

#include "compiler/ir/model_error.h"
#include "compiler/operators/host_segments.h"
#include "compiler/target/tpu_v1/choose/choose_mapping.h"
#include "compiler/target/tpu_v1/explain.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "compiler/target/tpu_v1/target.h"
#include "hw/isa/assembly.h"
#include "hw/isa/program.h"
#include "tests/support/files.h"
#include "tests/support/mapping_case.h"
#include "tests/support/random_network.h"
#include "tests/support/source_dir.h"

using namespace systole;

namespace {

const std::filesystem::path golden = std::filesystem::path(tests::source_dir()) / "tests/golden/programs.txt";

/// An FNV-1a hash, which stands for a long text.
std::uint64_t fingerprint(std::string_view text) {
    constexpr std::uint64_t prime = 0x100000001b3;
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char letter : text) hash = (hash ^ static_cast<std::uint8_t>(letter)) * prime;
    return hash;
}

/// A network on a machine, compiled by each of the mappings.
std::string programs_of(const tests::MappingCase& drawn) {
    std::string text;
    for (const machine::MappingName name :
         {machine::MappingName::Best, machine::MappingName::AsPublished, machine::MappingName::Plain}) {
        text += fmt::format("; {} ", names_of(name).at(static_cast<std::size_t>(name)));
        machine::Mapping mapping = machine::mapping_named(name);
        // What the comparison of mappings chooses has a test of its own, and takes long.
        mapping.compare = false;
        try {
            const mapping::Compiled compiled = tests::compiled(drawn, mapping);
            const isa::Program& program = compiled.program;
            const bool has_host = !program.host_segments.empty();
            text +=
                fmt::format("{} instructions, {} cycles, {:016x}", program.instructions.size(),
                            has_host ? 0 : tests::cycles_of(program, drawn.machine),
                            fingerprint(fmt::format("{}", fmt::join(isa::instruction_texts(program), "\n"))));
        } catch (const ModelError& error) {
            text += fmt::format("refused, {:016x}", fingerprint(error.what()));
        }
    }
    return text;
}

/// What the compiler says about its choices for a network.
std::string explanation_of(const tests::MappingCase& drawn) {
    const tpu_v1::Target target =
        tpu_v1::target_of(drawn.machine, machine::mapping_named(machine::MappingName::Best));
    try {
        return fmt::format(
            "; explained {:016x}",
            fingerprint(mapping::to_text(tpu_v1::choices(
                tpu_v1::choose_mapping(drawn.network, target, drawn.options), drawn.options))));
    } catch (const ModelError&) {
        return "";
    }
}

/// A network of layers of every kind, with weights, of which some may be the host's work.
tests::MappingCase quantized_case(std::uint32_t seed, bool with_host) {
    std::mt19937 random(seed);
    tests::RandomNetwork drawn(random, with_host ? 0 : 1);
    if (with_host) drawn.add_host_work();
    tests::MappingCase made;
    made.network = tpu_v1::lower(drawn.draw());
    made.machine = tests::odd_machine(random);
    const std::uint32_t batch = tests::between(random, 1, 5);
    made.options = {.batch = batch, .inferences = std::uint64_t{batch} * tests::between(random, 1, 3)};
    return made;
}

/// Holds the lines of the golden file with a name against those of today, or writes them again.
void check(const std::string& name, std::uint32_t first_seed, std::uint32_t count,
           const std::function<std::string(std::uint32_t)>& line_of) {
    std::map<std::string, std::string> known;
    std::istringstream lines(tests::text_in(golden));
    for (std::string line; std::getline(lines, line);) {
        const auto end = line.find(':');
        known[line.substr(0, end)] = line.substr(end + 1);
    }
    const bool writes = std::getenv("SYSTOLE_WRITE_GOLDEN") != nullptr;
    for (std::uint32_t seed = first_seed; seed < first_seed + count; ++seed) {
        const std::string key = fmt::format("{} {}", name, seed);
        const std::string line = line_of(seed);
        if (writes) {
            known[key] = line;
            continue;
        }
        INFO(key << "; if the change is intended: SYSTOLE_WRITE_GOLDEN=1 "
                    "build/dev/unit_sim_run_execute \"[golden]\"");
        CHECK(known[key] == line);
    }
    if (writes) {
        std::ofstream file(golden);
        for (const auto& [key, line] : known) file << key << ':' << line << '\n';
        REQUIRE(file.good());
    }
}

}  // namespace

TEST_CASE("Programs of networks on odd machines are the committed ones", "[golden]") {
    check("files", 45000, 16, [](std::uint32_t seed) {
        const tests::MappingCase drawn = tests::mapping_case(seed);
        return programs_of(drawn) + explanation_of(drawn);
    });
}

TEST_CASE("Programs of networks with layers of every kind are the committed ones", "[golden]") {
    check("layers", 46000, 60, [](std::uint32_t seed) { return programs_of(quantized_case(seed, false)); });
}

TEST_CASE("Programs of networks with work for the host are the committed ones", "[golden]") {
    check("host", 47000, 40, [](std::uint32_t seed) { return programs_of(quantized_case(seed, true)); });
}
