#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/common/registers.h"

/// The registers of the array, as a run that asks for them keeps them.
namespace systole::run {

/// Cycles from the first to the last, both included.
struct CycleRange {
    std::uint64_t first = 0;
    std::uint64_t last = UINT64_MAX;
};

/// "all", "CYCLE" or "FIRST-LAST". Throws ConfigError.
CycleRange read_cycle_range(const std::string& text);

/// The registers at the end of one cycle, row by row.
struct CycleRegisters {
    std::uint64_t cycle = 0;
    std::vector<std::int16_t> activations;
    std::vector<std::int16_t> weights;
    std::vector<std::int16_t> shadow_weights;
    std::vector<std::int32_t> partial_sums;
};

struct RegisterDump {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<CycleRegisters> cycles;  ///< those in which something moved
};

/// Keeps the registers of the cycles in a range. Throws ConfigError where they would take more memory than
/// anybody reads.
class RegisterRecorder final : public hw::RegisterSink {
public:
    static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 28U;

    /// The dump must outlive the recorder.
    RegisterRecorder(const CycleRange& range, RegisterDump& dump) : range_(range), dump_(dump) {}

    void cycle(Cycle cycle, const hw::ArrayRegisters& registers) override;

private:
    CycleRange range_;
    RegisterDump& dump_;
    std::uint64_t bytes_ = 0;
};

}  // namespace systole::run
