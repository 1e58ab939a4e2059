#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <systemc>
#include <tlm>
#include <utility>

#include "hw/common/clock.h"
#include "hw/common/counter.h"
#include "hw/common/ordered_requests.h"
#include "hw/common/unit_module.h"
#include "hw/common/weight_link.h"
#include "hw/machine/machine_config.h"
#include "hw/weight_memory/memory_timing.h"
#include "hw/weight_memory/weight_image.h"

namespace systole::hw {

/// What weight memory, with tiles of so many bytes in it, says of itself; also where it is one of the
/// caller's.
machine::UnitDescription describe_weight_memory(const machine::MachineConfig& machine,
                                                std::uint64_t used_bytes);

/// Off-chip memory of the weights. Where the machine does not say that it is writable, programs only read it.
///
/// The MemoryTiming that the machine selects gives the time of each read. `b_transport` does not wait: it
/// adds the time to its delay argument, so that reads can be issued ahead. Readers get direct access to the
/// bytes; a read without a data pointer only asks for its time. A TagExtension gives the tag that the read
/// counts for.
class WeightMemory final : public UnitModule, public SharedWeights {
public:
    WeightMemory(const sc_core::sc_module_name& name, const machine::MachineConfig& machine,
                 const Clock& clock, std::size_t cores = 1);

    /// Loads the contents that the driver wrote before the program began.
    void load(WeightImage image) { image_ = std::move(image); }

    void finish(Cycle end, Tag tag) override { timing_->finish(end, tag); }
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override {
        return timing_->bounds(machine);
    }

    void request(std::size_t core, std::uint64_t address, std::uint64_t bytes, Tag tag) override;
    Cycle next_arrival(std::size_t core) override;
    void request_write(std::size_t core, std::uint64_t bytes, Tag tag) override;
    Cycle next_written(std::size_t core) override;
    std::uint8_t* written_tile(std::uint64_t address) override { return image_.own_bytes(address); }

    /// The way of each core. Cores of which several share the memory, or that write it, have only direct
    /// access here, and make requests.
    std::deque<tlm_utils::simple_target_socket<WeightMemory>> sockets;

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& access);

    struct Request {
        bool writes = false;
        std::uint64_t address = 0;  ///< of a read
        std::uint64_t bytes = 0;
        Tag tag = 0;
    };
    auto serving() {
        return [this](const Request& request, Cycle at) {
            return request.writes ? timing_->write(request.bytes, at)
                                  : timing_->read(request.address, request.bytes, at, request.tag);
        };
    }

    const std::uint64_t bytes_;
    const Clock& clock_;
    std::unique_ptr<MemoryTiming> timing_;
    const std::size_t cores_;
    OrderedRequests<Request> requests_;  ///< of each core for reads and, behind all of them, for writes
    WeightImage image_;
};

}  // namespace systole::hw
