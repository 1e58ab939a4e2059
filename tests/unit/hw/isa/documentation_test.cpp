// docs/isa.md is the specification: its tables and examples hold.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/isa/encoding.h"
#include "hw/isa/fields.h"
#include "hw/isa/instruction.h"
#include "hw/isa/registers.h"
#include "tests/support/source_dir.h"

using namespace systole::isa;

namespace {

std::string specification() {
    std::ifstream file(std::string(systole::tests::source_dir()) + "/docs/isa.md");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// All matches of the expression in the text.
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

TEST_CASE("The specification's programs assemble, also from their disassembly", "[isa][documentation]") {
    const std::string text = specification();
    const std::string begin = "```\n.";
    std::size_t programs = 0;
    std::size_t segments = 0;
    std::size_t residents = 0;
    for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
        const std::string example = text.substr(at + 4, text.find("```", at + 4) - at - 4);
        INFO(example);
        const Program program = assemble(example, "docs/isa.md");
        CHECK(assemble(disassemble(program), "disassembled") == program);
        ++programs;
        segments += program.host_segments.size();
        residents += program.residents.size();
    }
    CHECK(programs == 5);
    CHECK(segments == 1);
    CHECK(residents == 2);
}

namespace {

/// Lists the fields of an instruction like a layout of the specification: "name bytes".
class FieldLister final : public FieldVisitor {
public:
    void flags(std::span<const FlagsPart>) override { list("flags", 1); }
    void host_address(std::uint64_t&) override { list("address", host_address_bytes); }
    void rule(bool, std::string_view) override {}

    std::vector<std::pair<std::string, unsigned>> fields;

protected:
    void visit_number(const NumberField& field, std::uint64_t&) override { list(field.name, field.bytes); }
    void visit_choice(std::string_view name, std::span<const std::string_view>, std::size_t&) override {
        list(name, 1);
    }

private:
    void list(std::string_view name, unsigned bytes) { fields.emplace_back(name, bytes); }
};

/// The words between the bars of a table's line, without blanks and quotes around them.
std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> found;
    std::istringstream stream(line.substr(1));
    for (std::string cell; std::getline(stream, cell, '|');) {
        const auto first = cell.find_first_not_of(" `");
        found.push_back(cell.substr(first, cell.find_last_not_of(" `") - first + 1));
    }
    return found;
}

/// "3", or "8–11".
std::string byte_range(unsigned first, unsigned bytes) {
    std::string range = std::to_string(first);
    if (bytes > 1) range += "–" + std::to_string(first + bytes - 1);
    return range;
}

struct Example {
    std::string line;
    std::string bytes;  ///< hexadecimal, two digits each
};

/// The instructions in the specification's blocks of assembly, each with the comment under it.
std::vector<Example> examples(const std::string& text) {
    std::vector<Example> found;
    const std::string fence = "```asm\n";
    for (std::size_t at = text.find(fence); at != std::string::npos; at = text.find(fence, at + 1)) {
        const std::size_t begin = at + fence.size();
        std::istringstream block(text.substr(begin, text.find("```", begin) - begin));
        for (Example example; std::getline(block, example.line);) {
            REQUIRE(std::getline(block, example.bytes));
            INFO(example.line);
            REQUIRE(example.bytes.starts_with("# "));
            example.bytes.erase(0, 2);
            found.push_back(example);
        }
    }
    return found;
}

std::string hexadecimal(const std::vector<std::uint8_t>& bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : bytes) {
        if (!text.empty()) text += ' ';
        text += {digits[byte >> 4U], digits[byte & 15U]};
    }
    return text;
}

}  // namespace

TEST_CASE("The specification's layouts are the encodings, byte by byte", "[isa][documentation]") {
    const std::string text = specification();
    for_each_kind([&](auto instruction) {
        CAPTURE(instruction.mnemonic);
        const auto found = matches(
            text, std::regex("\\| byte (\\|[^\n]*)\n\\|[-|]+\n\\| `" +
                             std::regex_replace(std::string(instruction.mnemonic), std::regex("\\."), "\\.") +
                             "` (\\|[^\n]*)\n"));
        REQUIRE(found.size() == 1);
        const std::vector<std::string> bytes = cells(found[0][1]);
        const std::vector<std::string> names = cells(found[0][2]);
        FieldLister lister;
        instruction.fields(lister);
        REQUIRE(bytes.size() == 1 + lister.fields.size());
        REQUIRE(names.size() == bytes.size());
        CHECK(bytes[0] == "0");
        CHECK(std::stoul(names[0], nullptr, 16) == instruction.opcode);
        unsigned next = 1;
        for (std::size_t i = 0; i < lister.fields.size(); ++i) {
            const auto& [name, size] = lister.fields[i];
            CAPTURE(name);
            CHECK(bytes[i + 1] == byte_range(next, size));
            CHECK(names[i + 1].substr(0, names[i + 1].find(" or ")) == name);
            next += size;
        }
        CHECK(next == instruction.encoded_bytes);
    });
}

TEST_CASE("The specification's flag bits are those of the encoding", "[isa][documentation]") {
    const std::string text = specification();
    const auto rows =
        matches(text, std::regex(R"(\| ([0-7]) \| ([a-z_]+) \| ([a-z_0]+)[^|]*\| ([a-z_0]+) \|)"));
    REQUIRE(rows.size() == 5);
    const auto flags_byte = [](const std::string& line, std::size_t place) {
        const Program program = assemble(line, "docs/isa.md");
        std::vector<std::uint8_t> bytes;
        encode(program.instructions.front(), bytes);
        return bytes.at(place);
    };
    for (const std::smatch& row : rows) {
        const std::string bit = row[1];
        CAPTURE(bit);
        const auto value = 1U << std::stoul(bit);
        CHECK(flags_byte("matmul ub=0 acc=0 rows=1 " + row[2].str(), 1) == value);
        CHECK(flags_byte("convolve ub=0 acc=0 lines=1 " + row[2].str(), 1) == value);
        // Bits of a format's code without a word of their own.
        const auto has_word = [](const std::string& cell) { return cell != "0" && cell != "format"; };
        if (has_word(row[3])) CHECK(flags_byte("activate ub=0 acc=0 rows=1 " + row[3].str(), 1) == value);
        if (has_word(row[4])) {
            const std::string work =
                row[4] == "wide" ? "add dst=0 src=0 rows=1 " : "max_pool dst=0 src=0 lines=1 ";
            CHECK(flags_byte("vector " + work + row[4].str(), 2) == value);
        }
    }
}

TEST_CASE("Every instruction has an example, whose bytes are its encoding", "[isa][documentation]") {
    const std::string buffers = ".buffer in input 0 50176\n.buffer out output 50176 640\n";
    const std::string declarations = buffers +
                                     ".tile 1 1 fill 0\n.tile 1 1 fill 0\n"
                                     ".host_segment softmax\n.reads in 10\n.writes out 10\n";
    const std::string core = ".tensor_core 128 128\n" + buffers +
                             ".chain c\n.source rows\n.source row\n.step add 0 1\n.result 2\n";
    std::map<std::string, std::string> declared;
    for_each_kind([&]<class Each>(const Each& instruction) {
        const std::string name(instruction.mnemonic);
        declared[name] = is_for_tiles<Each>         ? ".tiles 4 4\n" + buffers
                         : is_for_tensor_core<Each> ? core
                                                    : declarations;
    });
    std::map<std::string, int> examples_of;
    for (const Example& example : examples(specification())) {
        CAPTURE(example.line);
        const std::string name = example.line.substr(0, example.line.find(' '));
        const Program program = assemble(declared.at(name) + example.line, "docs/isa.md");
        REQUIRE(program.instructions.size() == 1);
        std::vector<std::uint8_t> bytes;
        encode(program.instructions.front(), bytes);
        CHECK(hexadecimal(bytes) == example.bytes);
        ++examples_of[std::string(mnemonic(program.instructions.front()))];
    }
    for_each_kind([&](const auto& instruction) {
        CAPTURE(instruction.mnemonic);
        CHECK(examples_of[std::string(instruction.mnemonic)] >= 1);
    });
}

TEST_CASE("Every instruction's section says what it costs", "[isa][documentation]") {
    const std::string text = specification();
    for_each_kind([&](const auto& instruction) {
        CAPTURE(instruction.mnemonic);
        const auto titles =
            matches(text, std::regex("\n### [^\n]*`" + std::string(instruction.mnemonic) + "`"));
        REQUIRE(titles.size() == 1);
        const auto begin = static_cast<std::size_t>(titles[0].position()) + 1;
        CHECK(text.find("*Costs*", begin) < text.find("\n### ", begin));
    });
}
