// Whatever numbers a program for tiles has, it runs or is a ProgramError; it never reaches beyond a memory.
#include <catch2/catch.hpp>
#include <random>

#include "hw/isa/program_error.h"
#include "tests/support/random_runs.h"
#include "tests/unit/sim/functional/tiles/tile_run.h"

using namespace systole;
using namespace systole::functional::tests;

namespace {

class HostileProgram {
public:
    explicit HostileProgram(unsigned seed) : engine_(seed) {
        program.geometry.tiles = {
            .lines = from(1, 3), .columns = from(1, 3), .lanes = 16 * from(1, 2), .units = from(1, 40)};
        program.buffers = {
            {.name = "b", .kind = isa::BufferKind::Output, .address = 0, .bytes = 6000, .contents = {}}};
        // Images that mostly make sense.
        for (const auto reg :
             {isa::Register::SourceLines, isa::Register::SourceColumns, isa::Register::SourceChannels,
              isa::Register::ResultLines, isa::Register::ResultColumns, isa::Register::ResultChannels}) {
            set(reg, from(1, 5));
        }
        for (int i = 0; i < 5; ++i) {
            const auto reg = static_cast<isa::Register>(from(0, isa::register_count - 1));
            set(reg, from(0, 9) == 0 ? from(0, UINT32_MAX) : from(0, 4));
        }
        for (int i = 0; i < 3; ++i) add_instruction();
        program.instructions.emplace_back(isa::Halt{});
    }

    isa::Program program;

private:
    std::uint32_t from(std::uint32_t lowest, std::uint32_t highest) {
        return std::uniform_int_distribution<std::uint32_t>(lowest, highest)(engine_);
    }
    bool coin() { return from(0, 1) == 1; }
    void set(isa::Register reg, std::uint32_t value) {
        program.instructions.emplace_back(isa::SetConfig{.reg = reg, .value = value});
    }
    /// A narrow-memory address, a unit or a byte of host memory: mostly one that exists.
    std::uint32_t place() { return from(0, 19) == 0 ? from(0, 0xffffff) : from(0, 6) * 50; }
    isa::Scaling scaling() { return static_cast<isa::Scaling>(from(0, 3)); }

    void add_instruction() {
        const std::uint32_t rows = from(1, 4);
        const auto units = static_cast<std::uint8_t>(from(1, program.geometry.tiles.lanes / 16));
        const auto groups = static_cast<std::uint16_t>(from(1, 3));
        const std::uint32_t repeats = from(1, 3);
        const std::uint32_t parameters = from(0, 30);
        switch (from(0, 9)) {
            case 0:
                return add(
                    isa::ReadParameters{.host_address = place(), .unit = place(), .units = from(1, 9)});
            case 1:
                return add(isa::ReadTensor{.host_address = place(), .address = place()});
            case 2:
                return add(
                    isa::WriteTensor{.host_address = place(), .address = place(), .over_lanes = coin()});
            case 3:
                return add(isa::StreamParameters{.host_address = parameters,
                                                 .rows = rows,
                                                 .units = units,
                                                 .groups = groups,
                                                 .repeats = repeats});
            case 4:
                return add(isa::Collect{.destination = place(), .source = place(), .over_lanes = coin()});
            case 5:
                return add(isa::Exchange{.address = place()});
            case 6:
                return add(isa::TileVector{
                    .operation = static_cast<isa::TileOperation>(from(0, isa::tile_operation_count - 1)),
                    .scaling = scaling(),
                    .is_signed = coin(),
                    .half_pixel = from(0, 9) == 0,
                    .align_corners = from(0, 9) == 0,
                    .result = place(),
                    .source = place(),
                    .other = coin() ? from(0, 20) : place()});
            case 7:
                if (coin()) {
                    return add(isa::Permute{.order = static_cast<isa::AxisOrder>(from(0, 5)),
                                            .result = place(),
                                            .source = place()});
                }
                return add(
                    isa::Move{.keeps = coin(), .repeats = coin(), .result = place(), .source = place()});
            default:
                const bool streamed = coin();
                add(isa::Multicast{.parameters = parameters,
                                   .rows = rows,
                                   .units = units,
                                   .groups = groups,
                                   .repeats = repeats,
                                   .streamed = streamed && coin()});
                return add(isa::TileMultiply{.product = static_cast<isa::TileProduct>(from(0, 2)),
                                             .scaling = scaling(),
                                             .is_signed = coin(),
                                             .has_signed_weights = coin(),
                                             .by_channel = coin(),
                                             .streamed = streamed,
                                             .result = place(),
                                             .source = place(),
                                             .parameters = parameters});
        }
    }
    void add(const isa::Instruction& instruction) { program.instructions.push_back(instruction); }

    std::mt19937 engine_;
};

}  // namespace

TEST_CASE("Hostile programs for tiles run or are program errors") {
    std::size_t completed = 0;
    std::size_t refused = 0;
    for (unsigned seed = 1; seed <= systole::tests::random_runs(3000); ++seed) {
        CAPTURE(seed);
        try {
            TileRun run(HostileProgram(seed).program, {.narrow_bytes = 400, .positions = 3});
            run.executor.run();
            ++completed;
        } catch (const isa::ProgramError&) {
            ++refused;
        }
    }
    CHECK(completed > 0);
    CHECK(refused > 0);
}
