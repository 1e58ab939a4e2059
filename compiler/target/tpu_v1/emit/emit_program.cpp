#include "compiler/target/tpu_v1/emit/emit_program.h"

#include "base/conversion.h"
#include "compiler/emit/synchronize.h"
#include "compiler/target/tpu_v1/emit/emitter.h"
#include "compiler/target/tpu_v1/emit/program_data.h"

namespace systole::tpu_v1 {
namespace {

isa::BorderTensor border_tensor(const Tensor& tensor) {
    return {.name = tensor.name,
            .shape = {tensor.shape.height, tensor.shape.width, tensor.shape.channels},
            .scale = tensor.scale,
            .zero_point = tensor.zero_point,
            .type = tensor.type,
            .conversion = tensor.conversion};
}

}  // namespace

isa::Program emit_program(const Network& network, const Schedule& schedule) {
    const HostMemory memory = lay_out_host_memory(network, schedule);
    isa::Program program;
    program.geometry = schedule.target.geometry;
    program.tiles = weight_image(network, schedule);
    program.buffers = host_buffers(memory, schedule.batches.inferences, constant_rows(network, schedule));
    program.host_segments = host_segments(network, memory, program.buffers);
    program.instructions =
        emit::synchronize(Emitter(network, schedule, memory).emit(), program, schedule.target.mapping.order);
    program.model = network.name;
    program.batch = schedule.batches.batch;
    program.inferences = schedule.batches.inferences;
    for (std::size_t l = 0; l < schedule.layers.size(); ++l) {
        const LayerPlan& layer = schedule.layers[l];
        if (!is_reported(layer, l)) continue;
        program.layers.push_back({.name = layer.name, .kind = layer.kind, .macs = layer.macs});
    }
    for (const TensorId id : network.inputs) {
        program.inputs.push_back(border_tensor(network.tensors[id]));
    }
    for (std::size_t i = 0; i < network.outputs.size(); ++i) {
        program.outputs.push_back(border_tensor(network.tensors[network.outputs[i]]));
        if (!network.output_shapes.empty()) program.outputs.back().shape = network.output_shapes[i];
        program.outputs.back().conversion = Conversion::Nearest;  // of an input that is an output, too
    }
    for (const Network::HostOperation& operation : network.host_operations) {
        program.host_operations.push_back({.kind = operation.kind, .layer = operation.layer});
    }
    return program;
}

isa::Program compile(const Network& network, const Target& target, const mapping::Batches& batches) {
    return emit_program(network, make_schedule(network, target, batches));
}

}  // namespace systole::tpu_v1
