#pragma once

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <systemc>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/matrix_interfaces.h"
#include "hw/common/trace.h"
#include "hw/common/value_workers.h"
#include "hw/machine/machine_config.h"
#include "hw/matrix_unit/matrix_unit.h"
#include "tests/support/unit_bench.h"
#include "tests/support/unit_neighbours.h"

// The matrix unit between neighbours that a test writes.
namespace systole::tests {

inline machine::Engine any_engine() {
    return GENERATE(machine::Engine::Wavefront, machine::Engine::Pe);
}

/// A weight FIFO with the tiles that the test puts in before the run.
class Fifo final : public hw::TileSource {
public:
    explicit Fifo(const hw::Clock& clock) : clock_(clock) {}
    const hw::Tile& front() override {
        while (tiles.empty()) clock_.wait(never_);
        return tiles.front();
    }
    void release() override {
        tiles.pop_front();
        released.push_back(clock_.now());
    }

    std::deque<hw::Tile> tiles;
    std::vector<Cycle> released;

private:
    const hw::Clock& clock_;
    sc_core::sc_event never_;
};

/// The rows of one stream.
class Rows final : public hw::RowSource {
public:
    explicit Rows(std::size_t row_bytes) : row_bytes_(row_bytes) {}
    hw::StreamRows enter(std::uint32_t elements) override {
        elements_asked.push_back(elements);
        if (values.empty()) return {};
        return
            [block = hw::RowBlock{values.data(), row_bytes_}](std::vector<std::uint8_t>&) { return block; };
    }

    std::vector<std::uint8_t> values;  ///< empty in a run without values
    std::vector<std::uint32_t> elements_asked;

private:
    std::size_t row_bytes_;
};

struct MatrixBench : UnitBench {
    explicit MatrixBench(const machine::MachineConfig& its, hw::Values values = hw::Values::TimingOnly,
                         const hw::MatrixUnitOptions& options = {}, std::size_t threads = 0)
        : UnitBench(its, values, threads), unit("matrix_unit", context, fifo, accumulators, options) {}

    /// Lets a stream enter as soon as it can, from this cycle on. For use in a process.
    void enter(hw::Stream stream) {
        stream.number = entered.size();
        if (stream.source == nullptr) stream.source = &source;
        const Cycle complete = unit.enter(stream);
        entered.push_back(clock.now());
        completed.push_back(complete);
    }

    std::uint64_t count(const std::string& name) const {
        return counter(unit, "matrix_unit." + name).value();
    }
    std::uint64_t reason(const std::string& name) const {
        return counter(unit, "matrix_unit.non_matrix_reasons." + name + "_cycles").value();
    }
    /// Ends the program, and checks that every cycle has its class and every non-matrix cycle its reason.
    void finish(Cycle end) {
        unit.finish(end, 0);
        CHECK(count("active_cycles") + count("weight_stall_cycles") + count("weight_shift_cycles") +
                  count("non_matrix_cycles") ==
              end);
        CHECK(cycles_of(unit, "matrix_unit.non_matrix_reasons") == count("non_matrix_cycles"));
    }

    void stream(const hw::StreamTimes& times) override { streams.push_back(times); }
    void matrix_idle(const hw::MatrixIdleTimes& times) override { idle.push_back(times); }

    Fifo fifo{clock};
    Rows source{machine.matrix_unit.rows};  ///< of streams without a source of their own
    BenchAccumulators accumulators{machine};
    hw::MatrixUnit unit;
    std::vector<Cycle> entered;
    std::vector<Cycle> completed;
    std::vector<hw::StreamTimes> streams;
    std::vector<hw::MatrixIdleTimes> idle;
};

}  // namespace systole::tests
