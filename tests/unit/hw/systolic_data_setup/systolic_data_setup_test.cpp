#include "hw/systolic_data_setup/systolic_data_setup.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/matrix_interfaces.h"
#include "hw/isa/footprint.h"
#include "hw/isa/program.h"
#include "tests/support/unit_bench.h"
#include "tests/support/unit_neighbours.h"

using namespace systole;

namespace {

constexpr isa::Geometry array_size{.rows = 4, .columns = 3};
constexpr std::size_t buffer_rows = 64;

/// An array with weights for every stream: each enters as soon as the one before has.
class Array final : public hw::StreamSink {
public:
    explicit Array(const hw::Clock& clock) : clock_(clock) {}
    Cycle enter(const hw::Stream& stream) override {
        clock_.wait_until(free_at_);
        stream.source->enter(array_size.rows);
        free_at_ = clock_.now() + stream.lines * stream.line_cycles;
        return free_at_;
    }

private:
    const hw::Clock& clock_;
    Cycle free_at_ = 0;
};

struct Bench : tests::UnitBench {
    Bench() : UnitBench(make_machine(), hw::Values::Computed) {}

    static machine::MachineConfig make_machine() {
        machine::MachineConfig machine;
        machine.matrix_unit.rows = array_size.rows;
        machine.matrix_unit.columns = array_size.columns;
        machine.unified_buffer.rows = buffer_rows;
        return machine;
    }

    /// Executes one instruction.
    void run(const isa::Instruction& instruction) {
        process([this, instruction] { issue(isa::QueueId::Matrix, setup.queue(), instruction); });
        UnitBench::run();
    }

    tests::BenchBuffer buffer{machine};
    Array array{clock};
    hw::SystolicDataSetup setup{"setup", context, buffer, array};
};

}  // namespace

TEST_CASE("A product asks the buffer for all rows of its elements, and for no other",
          "[hw][systolic_data_setup]") {
    struct Case {
        DataType activations;
        isa::RowRange first;   ///< of the first repetition, from its first row to its last
        isa::RowRange second;  ///< of the second
        isa::RowRange all;
    };
    // 3 rows, 5 apart. Elements of 16 bits take two rows of the buffer: 10 and 11, 15 and 16, 20 and 21.
    const auto c = GENERATE(Case{DataType::Uint8, {10, 21}, {11, 22}, {10, 22}},
                            Case{DataType::Int16, {10, 22}, {12, 24}, {10, 24}});
    const isa::MatrixMultiply multiply{
        .unified_buffer_row = 10, .length = 3, .flags = {.activations = c.activations}, .repeat = 1};
    Bench bench;
    bench.registers.set(isa::Register::MultiplyRowStride, 5);
    bench.run(multiply);
    CHECK(bench.buffer.read_rows == std::vector<isa::RowRange>{c.first, c.second});
    const isa::Footprint footprint = isa::footprint(multiply, bench.registers, array_size);
    CHECK(footprint.read_rows(isa::MemoryId::UnifiedBuffer) == c.all);
}
