#include "sim/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <utility>

#include "compiler/emit/compile.h"
#include "compiler/reference/float_executor.h"
#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_file.h"
#include "hw/machine/config_error.h"
#include "hw/machine/timing.h"
#include "sim/baselines/graph_network.h"
#include "sim/input/read.h"
#include "sim/occupancy/over_time.h"
#include "sim/occupancy/span_recorder.h"
#include "sim/run/compile.h"
#include "sim/run/random_images.h"
#include "sim/trace/fan_out.h"
#include "sim/trace/tracer.h"

namespace systole::run {
namespace {

class Stopwatch {
public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
    }

private:
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

const isa::HostBuffer* find_buffer(const isa::Program& program, isa::BufferKind kind) {
    const auto found = std::find_if(program.buffers.begin(), program.buffers.end(),
                                    [&](const isa::HostBuffer& buffer) { return buffer.kind == kind; });
    return found == program.buffers.end() ? nullptr : &*found;
}

/// The border tensor of the program's buffer of that kind, which holds one for each inference.
const isa::BorderTensor* border(const isa::Program& program, isa::BufferKind kind, const std::string& name) {
    const bool is_input = kind == isa::BufferKind::Input;
    const std::vector<isa::BorderTensor>& tensors = is_input ? program.inputs : program.outputs;
    if (tensors.empty()) return nullptr;
    const isa::BorderTensor& tensor = tensors.front();
    std::uint64_t elements = 1;
    for (const std::uint32_t extent : tensor.shape) elements *= extent;
    const std::uint64_t bytes = elements * bytes_of(tensor.type);
    const isa::HostBuffer* buffer = find_buffer(program, kind);
    if (tensors.size() > 1 || tensor.shape.empty() || buffer == nullptr || program.inferences == 0 ||
        buffer->bytes % program.inferences != 0 || buffer->bytes / program.inferences != bytes) {
        throw isa::ProgramError(
            fmt::format("{}: tensor \"{}\" must be the only {} and fill its buffer, {} elements of {} for "
                        "each of {} inferences",
                        name, tensor.name, is_input ? "input" : "output", elements, name_of(tensor.type),
                        program.inferences));
    }
    return &tensor;
}

ir::FeatureMap shape_of(const isa::BorderTensor& tensor) {
    ir::FeatureMap shape;
    const std::size_t rank = tensor.shape.size();
    shape.channels = tensor.shape.back();
    if (rank >= 2) shape.width = tensor.shape[rank - 2];
    if (rank >= 3) shape.height = tensor.shape[rank - 3];
    return shape;
}

std::vector<baselines::Baseline> read_baselines(const RunConfig& config, const PathFinder& paths) {
    std::vector<baselines::Baseline> read;
    for (const std::string& name : config.baselines) {
        read.push_back(baselines::read_baseline(paths.find(name, "baselines")));
    }
    return read;
}

/// As many labels as the input has images, before the limit cuts both.
std::vector<std::uint32_t> read_labels(const RunConfig& config, const PathFinder& paths,
                                       const NamedImages& input) {
    if (config.labels.empty()) return {};
    const std::filesystem::path path = paths.find(config.labels);
    std::vector<std::uint32_t> labels = input::read_labels(path);
    if (labels.size() != input.in_files) {
        throw input::InputError(fmt::format("{}: there are {} labels; {} has {} images", path.string(),
                                            labels.size(), input.name, input.in_files));
    }
    labels.resize(input.images.count);
    return labels;
}

std::vector<std::uint32_t> float_predictions(const ir::Graph& graph, const input::Images& images,
                                             double pixel_scale) {
    constexpr std::uint64_t most_at_once = 256;
    std::vector<std::uint32_t> predictions;
    for (std::uint64_t first = 0; first < images.count; first += most_at_once) {
        const auto count = static_cast<std::uint32_t>(std::min(most_at_once, images.count - first));
        const std::vector<float> outputs =
            reference::execute(graph, to_floats(images, first, count, pixel_scale), count);
        const std::vector<std::uint32_t> classes = reference::argmax(outputs, count);
        predictions.insert(predictions.end(), classes.begin(), classes.end());
    }
    return predictions;
}

void check_program_input(const std::optional<NamedImages>& input, const isa::BorderTensor* tensor,
                         const isa::Program& program, const std::string& name, bool timing_only) {
    if (!input) {
        if (tensor == nullptr || timing_only) return;
        throw isa::ProgramError(
            fmt::format("{}: the program takes images; give --input, --random-input or --timing-only", name));
    }
    if (tensor == nullptr) {
        throw isa::ProgramError(fmt::format("{}: the program takes no images; it declares no input", name));
    }
    if (input->images.count != program.inferences) {
        throw isa::ProgramError(fmt::format("{}: the program was made for {} images; {} has {}", name,
                                            program.inferences, input->name, input->images.count));
    }
    check_shape(*input, shape_of(*tensor), name);
}

NamedImages random_program_input(const RunConfig& config, const isa::Program& program,
                                 const isa::BorderTensor* tensor, const std::string& name) {
    if (tensor == nullptr) {
        throw isa::ProgramError(
            fmt::format("{}: the program takes no images, made up or not; it declares no input", name));
    }
    const std::uint64_t count = config.limit > 0 ? config.limit : program.inferences;
    return random_images(shape_of(*tensor), count, config.random_input, bytes_of(tensor->type) == 2);
}

void fill_input(Result& result, const NamedImages& input, const isa::BorderTensor& tensor) {
    const Storage storage{tensor.scale, tensor.zero_point, tensor.type};
    const isa::HostBuffer& buffer = *find_buffer(*result.program, isa::BufferKind::Input);
    if (!stored_unchanged(input.images, result.config.input_scale, storage)) {
        result.host_work.push_back(
            {"quantize_input", tensor.name, input.images.size(), bytes_of(tensor.type)});
    }
    if (!result.config.timing_only) {
        store(input.images, result.config.input_scale, storage, result.tpu->host_bytes(buffer));
    }
}

/// Keeps what the run asks for of what it hears.
class Recorder final : public hw::TraceListener {
public:
    explicit Recorder(Result& result)
        : times_(result.config.instructions ? &result.instruction_times : nullptr) {
        if (result.config.power_windows == 0) return;
        if (!result.machine.energy) {
            throw machine::ConfigError(
                "power_windows: the machine has no section energy, from which power over time follows");
        }
        activity_.emplace(intervals_, machine::shift_cycles(result.machine.matrix_unit.rows));
    }
    /// Null where nothing is asked for: such a run is faster.
    hw::TraceSink* sink() { return times_ != nullptr || activity_ ? this : nullptr; }

    void instruction(const hw::InstructionTimes& times) override {
        if (times_ != nullptr) times_->push_back(times);
        if (activity_) activity_->instruction(times);
    }
    void tile(const hw::TileTimes& times) override {
        if (activity_) activity_->tile(times);
    }

    /// When units worked; empty where the run does not ask for power over time.
    const std::vector<energy::Interval>& intervals() const { return intervals_; }

private:
    std::vector<hw::InstructionTimes>* const times_;
    std::vector<energy::Interval> intervals_;
    std::optional<energy::ActivityRecorder> activity_;
};

/// What a timeline shows besides what was heard.
trace::Afterwards known_afterwards(const Result& result) {
    trace::Afterwards known;
    known.power = result.power;
    if (result.occupancy) {
        known.buffer_rows =
            occupancy::changes_of(result.occupancy->values.unified_buffer, result.tpu->cycles());
    }
    return known;
}

/// The input buffers of a program that takes no images: their values are its own affair.
std::vector<std::string> unfilled_buffers(const isa::Program& program) {
    std::vector<std::string> names;
    for (const isa::HostBuffer& buffer : program.buffers) {
        if (buffer.kind == isa::BufferKind::Input) names.push_back(buffer.name);
    }
    return names;
}

/// Makes the chip, fills its input and lets it run.
void simulate(Result& result, const std::optional<NamedImages>& input, const isa::BorderTensor* input_tensor,
              const Progress& progress, const Stopwatch& total) {
    const bool timing_only = result.config.timing_only;
    // The chip outlives its observers, but tells nothing after its run.
    Recorder recorder(result);
    trace::Tracer tracer(result.config.trace, *result.program, result.machine, result.config.out);
    trace::FanOut observers;
    observers.add(recorder.sink());
    observers.add(tracer.sink());
    std::optional<occupancy::SpanRecorder> spans;
    if (!result.config.out.empty()) observers.add(&spans.emplace());
    trace::RegisterFanOut register_observers;
    std::optional<RegisterRecorder> registers;
    if (!result.config.registers.empty()) {
        if (result.machine.matrix_unit.engine != machine::Engine::Pe) {
            throw machine::ConfigError(
                "registers: the machine's engine has none to show; --set machine.matrix_unit.engine=pe does");
        }
        register_observers.add(
            &registers.emplace(read_cycle_range(result.config.registers), result.registers));
    }
    register_observers.add(tracer.registers());
    result.tpu = std::make_unique<hw::Tpu>(
        "tpu", result.machine, *result.program,
        hw::TpuOptions{.values = timing_only ? hw::Values::TimingOnly : hw::Values::Computed,
                       .trace = observers.sink(),
                       .registers = register_observers.sink(),
                       .held_back = {}});
    if (input) {
        fill_input(result, *input, *input_tensor);
    } else if (!timing_only) {
        result.unfilled_buffers = unfilled_buffers(*result.program);
    }
    result.wall.prepare = total.seconds();
    if (progress) {
        constexpr Cycle pause = 1'000'000;  // simulated in a few hundredths of a second
        const auto instructions = static_cast<std::uint64_t>(result.program->instructions.size());
        result.tpu->run([&](hw::InstructionNumber issued) { progress(issued, instructions); }, pause);
    } else {
        result.tpu->run();
    }
    result.wall.simulate = total.seconds() - result.wall.prepare;
    const Cycle cycles = result.tpu->cycles();
    if (spans) result.occupancy = occupancy::find_occupancy(*result.program, *std::move(spans), cycles);
    if (result.config.power_windows > 0) {
        result.power = energy::power_over_time(energy::events(*result.tpu, result.machine), result.machine,
                                               recorder.intervals(), cycles, result.config.power_windows);
    }
    tracer.finish(cycles, tracer.has_timeline() ? known_afterwards(result) : trace::Afterwards{});
}

void compare_with_float(Result& result, const ir::Graph& graph, const input::Images& images,
                        std::span<const std::uint32_t> labels) {
    const std::vector<std::uint32_t> predictions =
        float_predictions(graph, images, result.config.input_scale);
    const std::vector<std::uint32_t>& ours = result.outputs->predictions;
    if (ours.size() == predictions.size()) {
        result.float_agreements = 0;
        for (std::size_t i = 0; i < ours.size(); ++i) {
            *result.float_agreements += ours[i] == predictions[i] ? 1 : 0;
        }
    }
    if (!labels.empty()) result.float_accuracy = accuracy(predictions, labels);
}

}  // namespace

isa::Program read_program(const std::filesystem::path& path) {
    std::error_code error;
    std::ifstream stream(path, std::ios::binary);
    if (!stream || std::filesystem::is_directory(path, error)) {
        throw isa::ProgramError(fmt::format("{}: cannot be opened", path.string()));
    }
    constexpr int first_byte_of_program_files = 0x89;  // above every byte of assembly text
    if (stream.peek() == first_byte_of_program_files) return isa::read_program(path);
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    return isa::assemble(text, path.string());
}

Result run(const RunConfig& config, const Progress& progress) {
    const Stopwatch total;
    const PathFinder paths(config.file);
    Result result;
    result.config = config;
    result.machine = read_machine(config, paths);
    result.baselines = read_baselines(config, paths);
    if (!config.host.empty()) result.host = baselines::read_baseline(paths.find(config.host, "baselines"));

    // Before the long work: what can be wrong with the data is found first.
    std::optional<NamedImages> input = read_input(config, paths);
    std::vector<std::uint32_t> labels;
    if (input) labels = read_labels(config, paths, *input);

    std::optional<ir::Graph> graph;
    if (config.program.empty()) {
        if (!input && config.random_input == 0 && !config.timing_only) {
            throw machine::ConfigError(
                "a run computes on images: give --input, --random-input or --timing-only");
        }
        graph = read_model(config, paths);
        result.network = baselines::network_of(*graph);
        if (config.random_input > 0) input = read_input(config, paths, *graph);
        const quantized::Network network = quantize(*graph, config, paths, input);
        result.program = std::make_unique<const isa::Program>(
            emit::compile(network, target_of(result.machine), options_of(config, input)));
    } else {
        isa::Program program = read_program(paths.find(config.program));
        if (program.model.empty()) program.model = std::filesystem::path(config.program).stem().string();
        result.program = std::make_unique<const isa::Program>(std::move(program));
    }
    const isa::Program& program = *result.program;
    const std::string name = config.program.empty() ? program.model : config.program;
    check_host_operations(program);
    const isa::BorderTensor* input_tensor = border(program, isa::BufferKind::Input, name);
    const isa::BorderTensor* output_tensor = border(program, isa::BufferKind::Output, name);
    if (!config.program.empty() && config.random_input > 0) {
        input = random_program_input(config, program, input_tensor, name);
    }
    check_program_input(input, input_tensor, program, name, config.timing_only);
    if (!labels.empty() && (output_tensor == nullptr || !gives_classes(*output_tensor))) {
        throw isa::ProgramError(fmt::format(
            "{}: labels need an output that is a vector of two or more; its output is not", name));
    }

    try {
        std::vector<BufferView> views;  // found before the long work
        for (const std::string& text : config.print) views.push_back(find_view(program, text));
        simulate(result, input, input_tensor, progress, total);
        for (const BufferView& view : views) {
            result.printed.push_back(read_contents(view, result.tpu->host_bytes(*view.buffer)));
        }
    } catch (const isa::ProgramError& error) {
        throw isa::ProgramError(fmt::format("{}: {}", name, error.what()));
    }
    if (output_tensor != nullptr) {
        const std::vector<HostWork> work = output_work(program);
        result.host_work.insert(result.host_work.end(), work.begin(), work.end());
    }
    if (output_tensor != nullptr && !config.timing_only) {
        const isa::HostBuffer& buffer = *find_buffer(program, isa::BufferKind::Output);
        result.outputs = read_outputs(program, result.tpu->host_bytes(buffer));
        if (!labels.empty()) result.accuracy = accuracy(result.outputs->predictions, labels);
        if (input && config.random_input == 0 && !config.out.empty()) {
            result.pictures =
                choose_pictures(input->images, *result.outputs, labels, !program.host_operations.empty());
        }
        if (config.float_reference) compare_with_float(result, *graph, input->images, labels);
    }
    result.wall.total = total.seconds();
    return result;
}

}  // namespace systole::run
