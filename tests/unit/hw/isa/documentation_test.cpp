// docs/isa.md is the specification: its tables and examples hold.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "hw/isa/assembly.h"
#include "hw/isa/encoding.h"
#include "hw/isa/instruction_list.h"
#include "hw/isa/registers.h"

using namespace systole::isa;

namespace {

std::string specification() {
    std::ifstream file(SYSTOLE_SOURCE_DIR "/docs/isa.md");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// What the expression's groups match, for every match in the text.
std::vector<std::smatch> matches(const std::string& text, const std::regex& expression) {
    return {std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator()};
}

}  // namespace

TEST_CASE("The specification's registers are those of the code", "[isa][documentation]") {
    const std::string text = specification();
    const auto rows = matches(text, std::regex(R"(\| (\d+) \| `([a-z_.]+)` \| (\d+) \| ([^|\n]*) \|)"));
    REQUIRE(rows.size() == register_count);
    for (std::size_t i = 0; i < register_count; ++i) {
        const auto reg = static_cast<Register>(i);
        CAPTURE(name(reg));
        CHECK(std::stoul(rows[i][1]) == i);
        CHECK(rows[i][2] == std::string(name(reg)));
        CHECK(std::stoul(rows[i][3]) == initial_value(reg));
        CHECK(rows[i][4].str().ends_with("signed") == is_signed(reg));
    }
}

TEST_CASE("The specification's opcodes and sizes are those of the code", "[isa][documentation]") {
    const std::string text = specification();
    const auto rows =
        matches(text, std::regex(R"(\| `0x([0-9a-f]{2})` \| `([a-z_.]+)` \| (\d+) \| ([^|\n]*) \|)"));
    REQUIRE(rows.size() == std::variant_size_v<Instruction>);
    std::map<std::string, std::pair<unsigned long, unsigned long>> specified;
    for (const std::smatch& row : rows) {
        specified[row[2]] = {std::stoul(row[1], nullptr, 16), std::stoul(row[3])};
        // The fields' bytes and the opcode's make the size; `read_host` stands for `write_host`.
        unsigned long bytes = 1;
        const std::string fields = row[4];
        for (const std::smatch& field : matches(fields, std::regex(R"(\((\d+)\))")))
            bytes += std::stoul(field[1]);
        if (row[2] != "write_host") CHECK(bytes == std::stoul(row[3]));
    }
    for_each_kind([&](const auto& instruction) {
        CAPTURE(instruction.mnemonic);
        CHECK(specified[std::string(instruction.mnemonic)].first == instruction.opcode);
        CHECK(specified[std::string(instruction.mnemonic)].second == instruction.encoded_bytes);
    });
}

TEST_CASE("The specification's example assembles", "[isa][documentation]") {
    const std::string text = specification();
    const std::string begin = "```\n.array";
    const std::size_t at = text.find(begin);
    REQUIRE(at != std::string::npos);
    const std::string example = text.substr(at + 4, text.find("```", at + 4) - at - 4);
    const Program program = assemble(example, "docs/isa.md");
    CHECK(program.instructions.size() == 7);
    CHECK(program.buffers.size() == 2);
    CHECK(program.tiles.size() == 1);
}

TEST_CASE("The specification's instruction examples assemble", "[isa][documentation]") {
    const std::string text = specification();
    const std::string declarations =
        ".buffer in input 0 50176\n.buffer out output 50176 640\n.tile 1 1 fill 0\n.tile 1 1 fill 0\n";
    int examples = 0;
    for_each_kind([&](const auto& instruction) {
        const std::string mnemonic(instruction.mnemonic);
        const std::string begin = "\n" + mnemonic + " ";
        for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
            const std::string line = text.substr(at + 1, text.find('\n', at + 1) - at);
            CAPTURE(line);
            const Program program = assemble(declarations + line, "docs/isa.md");
            REQUIRE(program.instructions.size() == 1);
            CHECK(systole::isa::mnemonic(program.instructions.front()) == mnemonic);
            ++examples;
        }
    });
    CHECK(examples >= 10);
}
