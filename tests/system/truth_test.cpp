// The chip, the functional executor and the integer reference agree bit for bit, on networks and machines
// of every kind; and the chip's counters account for everything.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <limits>
#include <random>
#include <variant>

#include "compiler/emit/compile.h"
#include "compiler/frontend/frontend.h"
#include "compiler/graph/quantized_network.h"
#include "compiler/passes/prepare.h"
#include "compiler/reference/integer_executor.h"
#include "compiler/schedule/schedule.h"
#include "hw/machine/machine_config.h"
#include "hw/tpu/tpu.h"
#include "sim/functional/executor.h"
#include "sim/input/read.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/random_network.h"

namespace systole {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::uint32_t draw(std::mt19937& random, std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random() % (high - low + 1));
}

schedule::Target target_of(const machine::MachineConfig& machine) {
    return {.geometry = {.rows = machine.matrix_unit.rows, .columns = machine.matrix_unit.columns},
            .accumulator_rows = machine.accumulators.rows,
            .unified_buffer_rows = machine.unified_buffer.rows,
            .weight_memory_bytes = machine.weight_memory.bytes};
}

const isa::HostBuffer& buffer_of(const isa::Program& program, isa::BufferKind kind) {
    return *std::find_if(program.buffers.begin(), program.buffers.end(),
                         [&](const isa::HostBuffer& buffer) { return buffer.kind == kind; });
}

/// What a program asks of the paths, read off its instructions.
struct Asked {
    std::uint64_t host_read_bytes = 0;
    std::uint64_t host_write_bytes = 0;
    std::uint64_t tiles = 0;
};

Asked asked_of(const isa::Program& program) {
    Asked asked;
    for (const isa::Instruction& instruction : program.instructions) {
        if (const auto* read = std::get_if<isa::ReadHostMemory>(&instruction)) {
            asked.host_read_bytes += std::uint64_t{read->block_bytes} * read->blocks;
        } else if (const auto* write = std::get_if<isa::WriteHostMemory>(&instruction)) {
            asked.host_write_bytes += std::uint64_t{write->block_bytes} * write->blocks;
        } else if (const auto* weights = std::get_if<isa::ReadWeights>(&instruction)) {
            asked.tiles += weights->tiles;
        }
    }
    return asked;
}

std::uint64_t needed_macs(const quantized::Network& network) {
    std::uint64_t needed = 0;
    for (const quantized::Layer& layer : network.layers) needed += quantized::macs(network, layer);
    return needed;
}

void check_counters(const hw::Tpu& tpu, const isa::Program& program, const quantized::Network& network,
                    const machine::MachineConfig& machine, std::uint64_t inferences) {
    const hw::MatrixUnitCounters& matrix = tpu.matrix_unit();
    CHECK(matrix.active_cycles.value() + matrix.weight_stall_cycles.value() +
              matrix.weight_shift_cycles.value() + matrix.non_matrix_cycles.value() ==
          tpu.cycles());
    CHECK(matrix.useful_macs.value() + matrix.unused_macs.value() ==
          matrix.active_cycles.value() * machine.tile_bytes());
    CHECK(matrix.useful_macs.value() == needed_macs(network) * inferences);
    const Asked asked = asked_of(program);
    CHECK(tpu.host_interface().read_bytes.value() == asked.host_read_bytes);
    CHECK(tpu.host_interface().write_bytes.value() == asked.host_write_bytes);
    CHECK(tpu.weight_fifo().tiles.value() == asked.tiles);
    CHECK(tpu.weight_fifo().bytes.value() == asked.tiles * machine.tile_bytes());
}

/// Runs the network on the chip and on the functional executor and holds both to the integer reference.
void check_truth(const quantized::Network& network, const machine::MachineConfig& machine,
                 const schedule::Options& options, const Bytes& input) {
    const Bytes expected = reference::execute(network, input, static_cast<std::uint32_t>(options.inferences));
    const isa::Program program = emit::compile(network, target_of(machine), options);
    const isa::HostBuffer& in = buffer_of(program, isa::BufferKind::Input);
    const isa::HostBuffer& out = buffer_of(program, isa::BufferKind::Output);

    functional::Executor judge(program, machine);
    std::copy(input.begin(), input.end(), judge.host_bytes(in).begin());
    judge.run();
    const auto judged = judge.host_bytes(out);
    REQUIRE(Bytes(judged.begin(), judged.end()) == expected);

    tests::FreshSimulation simulation;
    hw::Tpu tpu("tpu", machine, program, {});
    std::copy(input.begin(), input.end(), tpu.host_bytes(in).begin());
    tpu.run();
    const auto computed = tpu.host_bytes(out);
    REQUIRE(Bytes(computed.begin(), computed.end()) == expected);

    const auto buffer = judge.unified_buffer();
    CHECK(
        std::equal(buffer.begin(), buffer.end(), tpu.unified_buffer().read(0, machine.unified_buffer.rows)));
    const auto sums = judge.accumulators();
    CHECK(std::equal(sums.begin(), sums.end(), tpu.accumulators().read(0, machine.accumulators.rows)));
    check_counters(tpu, program, network, machine, options.inferences);
}

/// A machine of odd sizes and times on which the network just fits, or somewhat larger.
machine::MachineConfig random_machine(const quantized::Network& network, std::mt19937& random) {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = draw(random, 1, 48);
    machine.matrix_unit.columns = draw(random, 1, 48);
    machine.matrix_unit.mac_latency_cycles = draw(random, 1, 3);
    machine.matrix_unit.setup_cycles = draw(random, 0, 5);
    machine.systolic_data_setup.fetches_per_cycle = draw(random, 1, 3);
    machine.weight_fifo.depth_tiles = draw(random, 1, 5);
    machine.weight_memory.bandwidth_gb_per_s = 0.1 * draw(random, 1, 400);
    machine.weight_memory.latency_cycles = draw(random, 0, 90);
    machine.unified_buffer.read_ports = draw(random, 1, 3);
    machine.unified_buffer.write_ports = draw(random, 1, 2);
    machine.accumulators.ports = draw(random, 1, 2);
    machine.accumulators.write_cycles = draw(random, 0, 4);
    machine.activation_unit.latency_cycles = draw(random, 0, 20);
    machine.host_interface.read_gb_per_s = 0.1 * draw(random, 1, 200);
    machine.host_interface.write_gb_per_s = 0.1 * draw(random, 1, 200);
    machine.host_interface.latency_cycles = draw(random, 0, 300);
    machine.sequencer.instruction_buffer_bytes = draw(random, 32, 4000);
    machine.sequencer.queue_depth = draw(random, 1, 20);
    machine.sequencer.issue_cycles = draw(random, 0, 6);

    std::uint32_t width = 1;
    for (const quantized::Layer& layer : network.layers) {
        width = std::max(width, network.tensors[layer.output].shape.width);
    }
    machine.accumulators.banks = draw(random, 1, 4);
    machine.accumulators.rows = machine.accumulators.banks * (width + draw(random, 0, 40));
    schedule::Target target = target_of(machine);
    target.unified_buffer_rows = std::numeric_limits<std::uint16_t>::max();
    const std::uint32_t least =
        schedule::make_schedule(network, target, {.batch = 1, .inferences = 1}).memory.rows;
    machine.unified_buffer.rows = least + draw(random, 0, 3 * least);
    return machine;
}

std::filesystem::path shipped(const std::string& name) {
    return std::filesystem::path(SYSTOLE_SOURCE_DIR) / name;
}

/// The shipped network, quantized on shipped digits, and some of them.
struct DigitNetwork {
    explicit DigitNetwork(std::uint32_t images) {
        const auto path = shipped("models/mnist_cnn/digits-images.idx3-ubyte.gz");
        const input::Images digits = input::read_images(std::span(&path, 1));
        const Bytes& pixels = *digits.pixels();
        passes::Calibration calibration{
            .inputs = {}, .count = 20, .encoding = passes::InputEncoding{1.0 / 255, 0}};
        for (std::size_t i = 0; i < calibration.count * digits.values_per_image(); ++i) {
            calibration.inputs.push_back(static_cast<float>(pixels[i]) / 255.0F);
        }
        network =
            passes::prepare(frontend::read_network(shipped("models/mnist_cnn/mnist_cnn.h5")), calibration);
        input.assign(pixels.begin(),
                     pixels.begin() + static_cast<std::ptrdiff_t>(images * digits.values_per_image()));
    }

    quantized::Network network;
    Bytes input;
};

}  // namespace

TEST_CASE("Random networks on random machines: chip, functional executor and integer reference agree",
          "[system][truth]") {
    constexpr std::uint32_t first_seed = 7001;
    for (std::uint32_t seed = first_seed; seed < first_seed + 150; ++seed) {
        std::mt19937 random(seed);
        tests::RandomNetwork networks(random);
        const quantized::Network network = networks.draw();
        const machine::MachineConfig machine = random_machine(network, random);
        const schedule::Options options{.batch = draw(random, 1, 5), .inferences = draw(random, 1, 9)};
        INFO("seed " << seed << ", machine " << machine::to_json(machine).dump() << ", batch "
                     << options.batch << ", " << options.inferences << " inferences");
        check_truth(network, machine, options,
                    networks.bytes(options.inferences * network.tensors[network.input].shape.elements()));
    }
}

TEST_CASE("The digit network computes the same on arrays of every size", "[system][truth]") {
    struct Size {
        std::uint32_t rows, columns;
    };
    const Size size =
        GENERATE(Size{4, 4}, Size{13, 7}, Size{32, 100}, Size{256, 256}, Size{100, 300}, Size{512, 512});
    CAPTURE(size.rows, size.columns);
    machine::MachineConfig machine = machine::read_machine(shipped("configs/machines/tpu_v1.json"));
    machine.matrix_unit.rows = size.rows;
    machine.matrix_unit.columns = size.columns;
    // As many bytes as TPU v1 has.
    machine.unified_buffer.rows = (24U << 20U) / size.rows;
    constexpr std::uint32_t images = 3;
    const DigitNetwork digits(images);
    check_truth(digits.network, machine, {.batch = 2, .inferences = images}, digits.input);
}

TEST_CASE("Cycles and counters do not depend on the order in which SystemC runs processes",
          "[system][truth]") {
    constexpr std::uint32_t images = 40;
    const machine::MachineConfig machine = machine::read_machine(shipped("configs/machines/tpu_v1.json"));
    const DigitNetwork digits(images);
    const isa::Program program =
        emit::compile(digits.network, target_of(machine), {.batch = 16, .inferences = images});
    const auto all_counters = [&](std::function<unsigned()> held_back) {
        tests::FreshSimulation simulation;
        hw::Tpu tpu("tpu", machine, program,
                    {.values = hw::Values::TimingOnly, .held_back = std::move(held_back)});
        tpu.run();
        std::vector<std::uint64_t> values{tpu.cycles()};
        for (const hw::CounterGroup* group : tpu.counters()) {
            for (const hw::Counter& counter : *group) {
                values.push_back(counter.value());
                for (hw::Tag tag = 0; tag <= program.layers.size(); ++tag)
                    values.push_back(counter.value(tag));
            }
        }
        return values;
    };
    const auto calm = all_counters({});
    for (unsigned seed = 1; seed <= 3; ++seed) {
        std::mt19937 random(seed);
        CAPTURE(seed);
        CHECK(all_counters([&] { return static_cast<unsigned>(random() % 4); }) == calm);
    }
}

}  // namespace systole
