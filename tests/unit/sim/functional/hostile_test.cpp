// Programs of any fields and registers run or end in a ProgramError; the sanitizers see that nothing else
// happens.
#include <algorithm>
#include <catch2/catch.hpp>

#include "hw/isa/program_error.h"
#include "tests/support/random_runs.h"
#include "tests/unit/sim/functional/naive.h"
#include "tests/unit/sim/functional/run.h"

using namespace systole;
using namespace systole::functional::tests;

namespace {

class HostileProgram {
public:
    explicit HostileProgram(unsigned seed) : random_(seed) {}

    isa::Program make() {
        isa::Program program;
        program.geometry = {.rows = random_.from(1, 8), .columns = random_.from(1, 8)};
        program.buffers = {{"in", isa::BufferKind::Input, 0, 64}, {"out", isa::BufferKind::Output, 100, 64}};
        for (int i = 0; i < 3; ++i) {
            isa::WeightTile tile{.rows = random_.from(1, program.geometry.rows),
                                 .columns = random_.from(1, program.geometry.columns),
                                 .type = integer_type(random_.coin(), true)};
            tile.values = random_.bytes(std::size_t{tile.rows} * tile.columns * bytes_of(tile.type));
            program.tiles.push_back(std::move(tile));
        }
        program.instructions.emplace_back(isa::ReadWeights{.tiles = 3});
        program.instructions.emplace_back(isa::ReadWeights{.tiles = 3});
        for (std::uint32_t reg = 0; reg < isa::register_count; ++reg) {
            program.instructions.emplace_back(isa::SetConfig{static_cast<isa::Register>(reg), small()});
        }
        for (int i = 0; i < 4; ++i) {
            const auto reg = static_cast<isa::Register>(random_.from(0, isa::register_count - 1));
            program.instructions.emplace_back(isa::SetConfig{reg, any()});
        }
        program.instructions.push_back(instruction());
        program.instructions.emplace_back(isa::Halt{});
        return program;
    }

private:
    std::uint32_t small() { return random_.from(0, 7) == 0 ? 0 : random_.from(1, 3); }
    std::uint32_t any() {
        switch (random_.from(0, 7)) {
            case 0:
                return random_.from(0, UINT32_MAX);
            case 1:
                return UINT32_MAX - random_.from(0, 3);
            case 2:
                return 1U << random_.from(0, 31);
            default:
                return random_.from(0, 9);
        }
    }
    std::uint32_t row() { return any() & 0xffffff; }
    std::uint16_t short_number() { return static_cast<std::uint16_t>(any()); }
    std::uint32_t count() { return std::max(1U, any()); }

    /// Now and then one that the machine does not multiply.
    DataType random_type() {
        return static_cast<DataType>(random_.from(0, static_cast<std::uint64_t>(DataType::Float32)));
    }

    isa::MatrixFlags matrix_flags() {
        return {.accumulate = random_.coin(),
                .activations = random_type(),
                .weights = integer_type(random_.coin(), true)};
    }

    isa::Instruction instruction() {
        switch (random_.from(0, 5)) {
            case 0:
                return isa::ReadHostMemory{any(), row(), count(), static_cast<std::uint16_t>(count() | 1)};
            case 1:
                return isa::WriteHostMemory{any(), row(), count(), static_cast<std::uint16_t>(count() | 1)};
            case 2:
                return isa::MatrixMultiply{row(), short_number(), count(), matrix_flags(),
                                           static_cast<std::uint8_t>(small())};
            case 3:
                return isa::Convolve{row(),          short_number(),
                                     short_number(), static_cast<std::uint16_t>(count() % 9 + 1),
                                     matrix_flags(), static_cast<std::uint8_t>(random_.from(0, 1))};
            case 4:
                return isa::Activate{.accumulator_row = short_number(),
                                     .unified_buffer_row = row(),
                                     .length = static_cast<std::uint16_t>(count() % 9 + 1),
                                     .first_output = any(),
                                     .load_parameters = random_.coin(),
                                     .output = integer_type(random_.coin(), true)};
            default:
                return vector();
        }
    }

    isa::Vector vector() {
        isa::Vector vector{.operation = static_cast<isa::VectorOperation>(random_.from(0, 4)),
                           .destination_row = row(),
                           .source_row = row(),
                           .length = count(),
                           .elements = integer_type(false, random_.coin())};
        if (vector.has_other()) vector.other_row = row();
        if (vector.is_pooling()) {
            vector.first_line = any();
            vector.count_padding = random_.coin();
        }
        return vector;
    }

    Random random_;
};

}  // namespace

TEST_CASE("Random programs run, or end with an error that names the last instruction") {
    std::uint32_t ran = 0;
    std::uint32_t refused = 0;
    for (unsigned seed = 0; seed < tests::random_runs(20000); ++seed) {
        CAPTURE(seed);
        Run run(HostileProgram(seed).make(), 40, 30);
        try {
            run.executor.run();
            ++ran;
        } catch (const isa::ProgramError& error) {
            CAPTURE(error.what());
            const std::string instruction =
                "instruction " + std::to_string(run.program.instructions.size() - 2) + ": ";
            REQUIRE(std::string(error.what()).starts_with(instruction));
            ++refused;
        }
    }
    CHECK(ran >= tests::random_share(1001));
    CHECK(refused >= tests::random_share(1001));
}
