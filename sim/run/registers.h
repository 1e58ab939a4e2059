#pragma once

#include <cstdint>
#include <string>

#include "hw/common/registers.h"
#include "sim/run/record/record.h"

/// The registers of the array in the cycles that a run requests.
namespace systole::run {

/// Cycles from the first to the last, both included.
struct CycleRange {
    std::uint64_t first = 0;
    std::uint64_t last = UINT64_MAX;
};

/// "all", "CYCLE" or "FIRST-LAST". Throws ConfigError.
CycleRange read_cycle_range(const std::string& text);

/// Records the registers of the cycles in a range. Throws ConfigError if they would take more memory than a
/// limit above any readable amount.
class RegisterRecorder final : public hw::RegisterSink {
public:
    static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 28U;

    /// The dump must outlive the recorder.
    RegisterRecorder(const CycleRange& range, RegisterDump& dump) : range_(range), dump_(dump) {}

    void cycle(Cycle cycle, const hw::ArrayRegisters& registers) override;
    /// The program took `cycles` cycles. Throws ConfigError if the range begins behind them and nothing was
    /// recorded.
    void check(Cycle cycles) const;

private:
    CycleRange range_;
    RegisterDump& dump_;
    std::uint64_t bytes_ = 0;
};

}  // namespace systole::run
