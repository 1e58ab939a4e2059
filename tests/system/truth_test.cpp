// The chip, the functional executor and the integer reference agree bit for bit on random networks and
// machines, and the chip's counters cover all cycles and MACs.
#include "tests/support/truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <limits>
#include <numeric>
#include <random>

#include "compiler/frontend/door/read_network.h"
#include "compiler/ir/model_error.h"
#include "compiler/passes/prepare.h"
#include "compiler/target/tpu_v1/choose/fit_memory.h"
#include "compiler/target/tpu_v1/emit/emit_program.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "hw/machine/machine_config.h"
#include "hw/system/system.h"
#include "sim/run/input/read.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/integer_graphs.h"
#include "tests/support/random_network.h"
#include "tests/support/random_runs.h"
#include "tests/support/source_dir.h"

namespace systole {
namespace {

using tests::Bytes;
using tests::check_truth;
using tests::target_of;

std::uint32_t draw(std::mt19937& random, std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random() % (high - low + 1));
}

/// Slices of random networks begin at multiples of this number of bytes.
constexpr std::uint32_t slice_bytes = 8;

/// Whether slices begin at a row that depends on the size of rows, which must divide `slice_bytes` then.
bool slices_move_rows(const tpu_v1::Network& network) {
    return std::any_of(network.layers.begin(), network.layers.end(), [](const tpu_v1::Layer& layer) {
        const auto* slice = std::get_if<tpu_v1::Slice>(&layer.work);
        return slice != nullptr && slice->first_element > 0;
    });
}

/// A machine of odd sizes and times that is just large enough for the network, or somewhat larger.
machine::MachineConfig random_machine(const tpu_v1::Network& network, std::mt19937& random) {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = slices_move_rows(network) ? 1U << draw(random, 0, 3) : draw(random, 1, 48);
    machine.matrix_unit.columns = draw(random, 1, 48);
    machine.matrix_unit.mac_latency_cycles = draw(random, 1, 3);
    machine.matrix_unit.setup_cycles = draw(random, 0, 5);
    machine.matrix_unit.row_sums = draw(random, 0, 1) == 1;
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
    machine.matrix_unit.weight_switch = draw(random, 0, 1);
    if (draw(random, 0, 1) == 1) {
        machine.matrix_unit.cells_per_stage = std::gcd(machine.matrix_unit.rows, machine.matrix_unit.columns);
    }

    std::uint32_t width = 1;
    for (const tpu_v1::Layer& layer : network.layers) {
        width = std::max(width, network.tensors[layer.output].shape.width);
    }
    machine.accumulators.banks = draw(random, 1, 4);
    machine.accumulators.rows = machine.accumulators.banks * (width + draw(random, 0, 40));
    tpu_v1::Target target = target_of(machine);
    target.unified_buffer_rows = std::numeric_limits<std::uint16_t>::max();
    const std::uint32_t least =
        tpu_v1::make_schedule(network, target, {.batch = 1, .inferences = 1}).memory.rows;
    machine.unified_buffer.rows = least + draw(random, 0, 3 * least);
    return machine;
}

std::filesystem::path shipped(const std::string& name) {
    return std::filesystem::path(tests::source_dir()) / name;
}

/// Draws weights of one scale.
tests::IntegerWeights drawn_weights(std::size_t count, std::int32_t zero_point, std::mt19937& random) {
    tests::IntegerWeights drawn;
    drawn.scales = {0.004};
    drawn.zero_point = zero_point;
    for (std::size_t i = 0; i < count; ++i) drawn.values.push_back(static_cast<std::int8_t>(random()));
    return drawn;
}

constexpr ir::Window padded_window{
    .kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};
constexpr ir::FeatureMap small_map{.height = 7, .width = 6, .channels = 4};

/// A convolution, a depthwise one and a dense layer, whose weights all have zero points.
ir::Graph zero_point_network(const ir::Encoding& encoding, std::mt19937& random) {
    tests::IntegerGraph made;
    ir::ValueId last = made.input(small_map, encoding);
    last = made.convolution(last, padded_window, 12, drawn_weights(3 * 3 * 4 * 12, 127, random), encoding);
    last = made.depthwise(last, padded_window, 2, drawn_weights(3 * 3 * 12 * 2, -128, random), encoding);
    made.dense({last}, 11, drawn_weights(made.map(last).elements() * 11, 55, random), encoding);
    return made.graph();
}

/// A convolution of two groups, with gaps between the pixels of its windows: the chip multiplies the others
/// with weights that are their zero point.
ir::Graph grouped_network(const ir::Encoding& encoding, std::mt19937& random) {
    tests::IntegerGraph made;
    const ir::ValueId input = made.input(small_map, encoding);
    const ir::Window window{.kernel_height = 2, .kernel_width = 2, .dilation_y = 2, .dilation_x = 3};
    std::vector<ir::NamedAttribute> attributes = ir::attributes_of(window);
    attributes.emplace_back("groups", std::int64_t{2});
    const auto inputs = made.with_weights({input}, {2, 2, 2, 14}, drawn_weights(2 * 2 * 2 * 14, -9, random));
    made.append("convolution", inputs, encoding, std::move(attributes));
    return made.graph();
}

/// The shipped network, quantized with shipped digits, and some of these digits.
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
        graph =
            passes::prepare(frontend::read_network(shipped("models/mnist_cnn/mnist_cnn.h5")), calibration);
        input.assign(pixels.begin(),
                     pixels.begin() + static_cast<std::ptrdiff_t>(images * digits.values_per_image()));
    }

    ir::Graph graph;
    Bytes input;
};

}  // namespace

TEST_CASE("Random networks on random machines: chip, functional executor and integer reference agree",
          "[system][truth]") {
    constexpr std::uint32_t first_seed = 7001;
    std::uint32_t best = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(150); ++seed) {
        std::mt19937 random(seed);
        tests::RandomNetwork networks(random, slice_bytes);
        const ir::Graph graph = networks.draw();
        const tpu_v1::Network network = tpu_v1::lower(graph);
        machine::MachineConfig machine = random_machine(network, random);
        const mapping::Batches options{.batch = draw(random, 1, 5), .inferences = draw(random, 1, 9)};
        machine::Mapping mapping;
        if (draw(random, 0, 1) == 1) {
            // The best mapping may take more rows, for the parameters of several pixels.
            mapping = machine::mapping_named(machine::MappingName::Best);
            machine.unified_buffer.rows += 2000;
            ++best;
        }
        INFO("seed " << seed << ", machine " << machine::to_json(machine).dump() << ", batch "
                     << options.batch << ", " << options.inferences << " inferences");
        check_truth(graph, machine, options, networks.images(graph, options.inferences), mapping);
    }
    CHECK(best >= tests::random_share(40));
}

TEST_CASE("Networks with work of the host: both engines, functional executor and integer reference agree",
          "[system][truth]") {
    constexpr std::uint32_t first_seed = 9001;
    std::uint32_t compared = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(40); ++seed) {
        std::mt19937 random(seed);
        tests::RandomNetwork networks(random, slice_bytes);
        networks.add_host_work();
        const ir::Graph graph = networks.draw();
        tpu_v1::Network network;
        try {
            network = tpu_v1::lower(graph);
        } catch (const ModelError&) {
            continue;  // the chip has no work
        }
        ++compared;
        machine::MachineConfig machine = random_machine(network, random);
        const mapping::Batches options{.batch = draw(random, 1, 5), .inferences = draw(random, 1, 9)};
        INFO("seed " << seed << ", machine " << machine::to_json(machine).dump() << ", batch "
                     << options.batch << ", " << options.inferences << " inferences");
        const Bytes input = networks.images(graph, options.inferences);
        for (const auto engine : {machine::Engine::Wavefront, machine::Engine::Pe}) {
            machine.matrix_unit.engine = engine;
            check_truth(graph, machine, options, input);
        }
    }
    CHECK(compared >= tests::random_share(21));
}

TEST_CASE(
    "Networks of which not one image fits: both engines, functional executor and integer reference agree",
    "[system][truth]") {
    constexpr std::uint32_t first_seed = 11001;
    std::uint32_t cut = 0, spilled = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(250); ++seed) {
        std::mt19937 random(seed);
        tests::RandomNetwork networks(random, slice_bytes);
        if (draw(random, 0, 3) == 0) networks.add_host_work();
        const ir::Graph graph = networks.draw();
        std::optional<tpu_v1::FittedNetwork> found;
        machine::MachineConfig machine;
        try {
            const tpu_v1::Network network = tpu_v1::lower(graph);
            machine = random_machine(network, random);
            machine.unified_buffer.rows =
                draw(random, machine.unified_buffer.rows / 8, machine.unified_buffer.rows / 2) + 1;
            const tpu_v1::Target target = target_of(machine);
            found = tpu_v1::fit_memory(tpu_v1::analyse(network, target), target, machine);
        } catch (const ModelError&) {
            continue;  // the chip has no work, or too few rows even for a line
        }
        const tpu_v1::FittedNetwork& fitted = *found;
        if (!fitted.fit) continue;
        cut += fitted.fit->cut_layers > 0;
        spilled += !fitted.fit->spilled.empty();
        const mapping::Batches options{.batch = draw(random, 1, 3), .inferences = draw(random, 1, 4)};
        INFO("seed " << seed << ", machine " << machine::to_json(machine).dump() << ", batch "
                     << options.batch << ", " << options.inferences << " inferences");
        const Bytes input = networks.images(graph, options.inferences);
        const isa::Program program = tpu_v1::emit_program(
            fitted.analysed.network(), tpu_v1::make_schedule(fitted.analysed, fitted.target, options));
        for (const auto engine : {machine::Engine::Wavefront, machine::Engine::Pe}) {
            machine.matrix_unit.engine = engine;
            tests::check_program(graph, program, machine, input, [&](const hw::System& system) {
                CHECK(tests::matrix_unit_cycles(system) == system.cycles());
                tests::check_traffic(system, program);
            });
        }
    }
    CHECK(cut >= tests::random_share(10));
    CHECK(spilled >= tests::random_share(2));
}

TEST_CASE("Weights with zero points take one pass with row sums and two without, and give the same results",
          "[system][truth]") {
    struct Numbers {
        DataType type;
        std::int32_t zero_point;
    };
    const Numbers numbers =
        GENERATE(Numbers{DataType::Uint8, 100}, Numbers{DataType::Int8, -9}, Numbers{DataType::Int16, 0});
    CAPTURE(name_of(numbers.type));
    std::mt19937 random(5150);
    const ir::Graph graph = zero_point_network({0.5, numbers.zero_point, numbers.type}, random);
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 16;
    machine.matrix_unit.columns = 10;
    machine.matrix_unit.mac_latency_cycles = 2;
    const mapping::Batches options{.batch = 2, .inferences = 3};
    Bytes input(options.inferences * graph.input_map().elements() * bytes_of(numbers.type));
    for (std::uint8_t& byte : input) byte = static_cast<std::uint8_t>(random());
    for (const auto engine : {machine::Engine::Wavefront, machine::Engine::Pe}) {
        for (const bool row_sums : {true, false}) {
            CAPTURE(engine, row_sums);
            machine.matrix_unit.engine = engine;
            machine.matrix_unit.row_sums = row_sums;
            check_truth(graph, machine, options, input);
        }
    }
    const auto counted = [&](bool row_sums) {
        machine.matrix_unit.row_sums = row_sums;
        machine.matrix_unit.engine = machine::Engine::Wavefront;
        const isa::Program program = tpu_v1::compile(tpu_v1::lower(graph), target_of(machine), options);
        tests::FreshSimulation simulation;
        hw::System system("system", machine, program,
                          {.values = hw::Values::TimingOnly, .test_delta_delay = {}});
        system.run();
        const std::uint64_t active = system.counter("matrix_unit.active_cycles").value();
        // Every row's sum is used.
        if (row_sums)
            CHECK(system.counter("matrix_unit.row_sums").value() == active / bytes_of(numbers.type));
        return active;
    };
    CHECK(counted(false) == 2 * counted(true));
}

TEST_CASE("Weights with zero points are subtracted in convolutions with groups and gaps", "[system][truth]") {
    std::mt19937 random(5151);
    const ir::Graph graph = grouped_network({0.5, 100, DataType::Uint8}, random);
    Bytes input(graph.input_map().elements());
    for (std::uint8_t& byte : input) byte = static_cast<std::uint8_t>(random());
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 16;
    machine.matrix_unit.columns = 10;
    for (const bool row_sums : {true, false}) {
        CAPTURE(row_sums);
        machine.matrix_unit.row_sums = row_sums;
        const isa::Program program =
            tpu_v1::compile(tpu_v1::lower(graph), target_of(machine), {.batch = 1, .inferences = 1});
        tests::FreshSimulation simulation;
        hw::System system("system", machine, program, {.test_delta_delay = {}});
        std::ranges::copy(input,
                          system.host_bytes(tests::buffer_of(program, isa::BufferKind::Input)).begin());
        system.run();
        const auto computed = system.host_bytes(tests::buffer_of(program, isa::BufferKind::Output));
        CHECK(Bytes(computed.begin(), computed.end()) == reference::execute(graph, input, 1));
        if (row_sums) CHECK(system.counter("matrix_unit.row_sums").value() > 0);
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
    // The number of bytes of TPU v1.
    machine.unified_buffer.rows = (24U << 20U) / size.rows;
    constexpr std::uint32_t images = 3;
    const DigitNetwork digits(images);
    check_truth(digits.graph, machine, {.batch = 2, .inferences = images}, digits.input);
}

TEST_CASE("Cycles and counters do not depend on the order in which SystemC runs processes",
          "[system][truth]") {
    constexpr std::uint32_t images = 40;
    const machine::MachineConfig machine = machine::read_machine(shipped("configs/machines/tpu_v1.json"));
    const DigitNetwork digits(images);
    const isa::Program program =
        tpu_v1::compile(tpu_v1::lower(digits.graph), target_of(machine), {.batch = 16, .inferences = images});
    const auto all_counters = [&](std::function<unsigned()> test_delta_delay) {
        tests::FreshSimulation simulation;
        hw::System system(
            "system", machine, program,
            {.values = hw::Values::TimingOnly, .test_delta_delay = std::move(test_delta_delay)});
        system.run();
        std::vector<std::uint64_t> values{system.cycles()};
        for (const auto& [path, group] : system.counters()) {
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
