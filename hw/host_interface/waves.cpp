// The signals that waves show of the unit, and the ports through which it moves rows.
#include <memory>

#include "hw/host_interface/host_interface.h"
#include "hw/isa/queue.h"

namespace systole::hw {
namespace {

class HostInterfaceWaves final : public TraceListener {
public:
    HostInterfaceWaves(WaveMaker& maker, std::uint64_t rows)
        : bound_(maker.bound()),
          read_(maker.work("host_interface.read", "host_interface.read_instruction")),
          write_(maker.work("host_interface.write", "host_interface.write_instruction")),
          rows_in_(maker.port("unified_buffer.host_in", rows)),
          rows_out_(maker.port("unified_buffer.host_out", rows)) {
        maker.shows(isa::QueueId::HostRead);
        maker.shows(isa::QueueId::HostWrite);
    }

    void instruction(const InstructionTimes& times) override {
        const isa::Footprint& footprint = bound_[times.number].footprint;
        if (times.unit == static_cast<std::size_t>(isa::QueueId::HostRead)) {
            const Cycle latency = times.complete - times.released;
            read_.hold(times.begun, times.released, times.number);
            rows_in_.hold(times.begun + latency, times.complete,
                          footprint.written_rows(isa::MemoryId::UnifiedBuffer).first);
        } else {
            write_.hold(times.begun, times.released, times.number);
            rows_out_.hold(times.begun, times.released,
                           footprint.read_rows(isa::MemoryId::UnifiedBuffer).first);
        }
        bound_.drop(times.number);
    }

private:
    BoundInstructions& bound_;
    NumberedWave read_;
    NumberedWave write_;
    NumberedWave rows_in_;
    NumberedWave rows_out_;
};

}  // namespace

std::unique_ptr<TraceListener> HostInterface::waves(WaveMaker& maker) const {
    return std::make_unique<HostInterfaceWaves>(maker, context_.machine.unified_buffer.rows);
}

}  // namespace systole::hw
