#include <fmt/format.h>

#include <span>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/isa/assembly/constants.h"
#include "hw/isa/assembly/directives.h"
#include "hw/isa/assembly/instruction_text.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_rules.h"

namespace systole::isa {
namespace {

/// Statements that `.repeat` and `count=` may add to a text, so that a short text cannot take all memory.
constexpr std::uint64_t most_repeated = std::uint64_t{1} << 20U;

constexpr std::string_view repeat_word = ".repeat";
constexpr std::string_view end_word = ".end";

bool is_called(const Statement& statement, std::string_view name) {
    return statement.tokens.front().text == name;
}

class Assembler {
public:
    Assembler(std::string_view text, std::string_view file) : lexer_(text, file), file_(file) {}

    Program run() {
        while (const auto statement = lexer_.next()) {
            if (is_called(*statement, repeat_word)) {
                repeat(*statement, body_of(*statement));
            } else {
                take(*statement);
            }
        }
        directives_.close();
        try {
            validate(program_);
        } catch (const ProgramError& error) {
            throw ProgramError(fmt::format("{}: {}", file_, error.what()));
        }
        return std::move(program_);
    }

private:
    Operands operands_of(const Statement& statement) const { return {statement, file_, constants_}; }

    /// The statements up to the `.end` of a `.repeat` that was just read.
    std::vector<Statement> body_of(const Statement& head) {
        std::vector<Statement> body;
        std::size_t depth = 1;
        while (auto statement = lexer_.next()) {
            if (is_called(*statement, repeat_word) && ++depth > deepest) {
                operands_of(*statement).fail(fmt::format("at most {} .repeat lie in each other", deepest));
            }
            if (is_called(*statement, end_word) && --depth == 0) {
                operands_of(*statement).finish();
                return body;
            }
            body.push_back(*std::move(statement));
        }
        operands_of(head).fail(".end is missing");
    }

    void repeat(const Statement& head, std::span<const Statement> body) {
        Operands operands = operands_of(head);
        const std::uint64_t times = operands.number("count", 1, most_repeated);
        operands.finish();
        if (body.empty()) return;
        for (std::uint64_t i = 0; i < times; ++i) {
            for (std::size_t next = 0; next < body.size();) {
                spend(operands, 1);
                const Statement& statement = body[next++];
                if (!is_called(statement, repeat_word)) {
                    take(statement);
                    continue;
                }
                const std::size_t begin = next;
                for (std::size_t depth = 1; depth > 0; ++next) {
                    if (is_called(body[next], repeat_word)) ++depth;
                    if (is_called(body[next], end_word)) --depth;
                }
                repeat(statement, body.subspan(begin, next - 1 - begin));
            }
        }
    }

    void spend(const Operands& operands, std::uint64_t statements) {
        repeated_ += statements;
        if (repeated_ > most_repeated) {
            operands.fail(fmt::format("a text repeats at most {} statements", most_repeated));
        }
    }

    void take(const Statement& statement) {
        if (is_called(statement, end_word)) operands_of(statement).fail("there is no .repeat above it");
        Operands operands = operands_of(statement);
        if (directives_.take(operands)) return;
        std::uint64_t count = 1;
        if (operands.name() == Nop::mnemonic) {
            count = operands.keyed_number("count", 1, 1, most_repeated);
            spend(operands, count - 1);
        }
        const auto instruction = parse_instruction(operands, directives_.addresses());
        if (!instruction) operands.fail("no such instruction or directive");
        if (const auto rule = broken_rule(*instruction, program_)) operands.fail(*rule);
        program_.instructions.insert(program_.instructions.end(), count, *instruction);
        auto& lines = program_.lines.of_instructions;
        lines.insert(lines.end(), count, static_cast<std::uint32_t>(statement.line));
    }

    static constexpr std::size_t deepest = 16;

    Lexer lexer_;
    std::string_view file_;
    Program program_;
    Constants constants_;
    Directives directives_{program_, constants_};
    std::uint64_t repeated_ = 0;
};

}  // namespace

Program assemble(std::string_view text, std::string_view file_name) {
    return Assembler(text, file_name).run();
}

}  // namespace systole::isa
