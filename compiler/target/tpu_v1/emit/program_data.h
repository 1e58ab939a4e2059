#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "hw/isa/program.h"

namespace systole::tpu_v1 {

/// The tiles of all layers in the schedule's numbering, which is the order of first use. A tile that is
/// fetched several times occurs once.
std::vector<isa::WeightTile> weight_image(const Network& network, const Schedule& schedule);

/// The contents of the unified buffer's constant rows: requantization parameters (int32 bias, int32
/// multiplier, int8 shift: three arrays, little endian, packed; or int32 bias and float64 multiplier) and
/// lookup tables, each at the row that the schedule assigned.
std::vector<std::uint8_t> constant_rows(const Network& network, const Schedule& schedule);

/// A tensor of the network in host memory, where it has a buffer for all inferences, packed.
struct HostTensor {
    TensorId tensor = 0;
    isa::BufferKind kind = isa::BufferKind::Input;  ///< input, output or exchange
    std::string name;                               ///< of the buffer
    std::uint64_t address = 0;
    std::uint64_t bytes_per_image = 0;
};

/// The layout of the program's data in host memory: the network's inputs and outputs, and the tensors that
/// chip and host exchange or that the chip keeps there.
struct HostMemory {
    std::uint64_t constants_address = 0;
    std::uint64_t constants_bytes = 0;  ///< 0: the program has none
    std::vector<HostTensor> tensors;    ///< inputs, then outputs, then others; the buffers' order
    /// By tensor of the network: its number in `tensors` as an input, as an output, and the first of all.
    std::map<TensorId, std::size_t> input_places, output_places, places;

    void add(HostTensor tensor);

    const HostTensor& input(TensorId id) const { return tensors[input_places.at(id)]; }
    const HostTensor& output(TensorId id) const { return tensors[output_places.at(id)]; }
    /// The place where a segment finds or leaves a tensor, as a number in `tensors`.
    std::size_t place_of(TensorId id) const;
};

/// Throws ModelError if the inferences take more host memory than instructions can address.
HostMemory lay_out_host_memory(const Network& network, const Schedule& schedule);

/// The segments of the host; `buffers` are those of host_buffers.
std::vector<isa::HostSegment> host_segments(const Network& network, const HostMemory& memory,
                                            const std::vector<isa::HostBuffer>& buffers);

/// The host buffers; that of the constants has its contents.
std::vector<isa::HostBuffer> host_buffers(const HostMemory& memory, std::uint64_t inferences,
                                          std::vector<std::uint8_t> constants);

}  // namespace systole::tpu_v1
