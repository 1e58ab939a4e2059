#include "sim/run/execute/run.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <iterator>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/conversion.h"
#include "base/input_file.h"
#include "base/message_text.h"
#include "compiler/compile.h"
#include "compiler/ir/program.h"
#include "compiler/reference/executor.h"
#include "hw/common/fan_out.h"
#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_file.h"
#include "hw/machine/config_error.h"
#include "hw/math/floats/float_values.h"
#include "hw/math/floats/word_values.h"
#include "hw/system/system.h"
#include "sim/run/array_program.h"
#include "sim/run/arrays.h"
#include "sim/run/baselines/expected.h"
#include "sim/run/buffers.h"
#include "sim/run/calibration.h"
#include "sim/run/execute/batch_recorder.h"
#include "sim/run/execute/bounds.h"
#include "sim/run/execute/compiler_options.h"
#include "sim/run/execute/layer_accuracy.h"
#include "sim/run/execute/recorders.h"
#include "sim/run/execute/runs_beside.h"
#include "sim/run/execute/segment_host.h"
#include "sim/run/execute/sequence.h"
#include "sim/run/host.h"
#include "sim/run/images.h"
#include "sim/run/input/read.h"
#include "sim/run/network.h"
#include "sim/run/network_input.h"
#include "sim/run/outputs.h"
#include "sim/run/record/bytes.h"
#include "sim/run/registers.h"
#include "sim/run/stopwatch.h"

namespace systole::run {
namespace {

/// The program's buffers of a kind, in order.
std::vector<const isa::HostBuffer*> buffers_of(const isa::Program& program, isa::BufferKind kind) {
    std::vector<const isa::HostBuffer*> buffers;
    for (const isa::HostBuffer& buffer : program.buffers) {
        if (buffer.kind == kind) buffers.push_back(&buffer);
    }
    return buffers;
}

std::uint64_t elements_in(const isa::BorderTensor& tensor) {
    std::uint64_t elements = 1;
    for (const std::uint32_t extent : tensor.shape) elements *= extent;
    return elements;
}

/// Throws unless each border tensor of the side fills a buffer with one tensor for each inference, or of
/// state for each of a batch.
void check_border(const isa::Program& program, const machine::MachineConfig& machine, isa::BufferKind kind,
                  const std::string& name) {
    const bool is_input = kind == isa::BufferKind::Input;
    const std::vector<isa::BorderTensor>& tensors = is_input ? program.inputs : program.outputs;
    if (tensors.empty()) return;
    const std::vector<const isa::HostBuffer*> buffers = buffers_of(program, kind);
    const char* const side = is_input ? "input" : "output";
    if (tensors.size() != buffers.size()) {
        throw isa::ProgramError(fmt::format("{}: it has {} and {} for them; there must be a buffer for each",
                                            name, counted(tensors.size(), side),
                                            counted(buffers.size(), "buffer")));
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const isa::BorderTensor& tensor = tensors[i];
        if (!machine.computes_floats() && !is_integer(tensor.type) && tensor.type != DataType::Float32) {
            throw isa::ProgramError(
                fmt::format("{}: {} \"{}\" is {}, which only machines with tensor cores take; {} has none",
                            name, side, tensor.name, name_of(tensor.type), machine.name));
        }
        // A machine that computes in floats has words, whatever the format in files.
        const std::uint64_t bytes =
            elements_in(tensor) * (machine.computes_floats() ? isa::word_bytes : bytes_of(tensor.type));
        const std::uint64_t inferences =
            is_input ? isa::inferences_of_input(program, i) : isa::inferences_of_output(program, i);
        const bool has_shape = !tensor.shape.empty() || program.arrays;  // an array may be a number
        if (has_shape && inferences > 0 && buffers[i]->bytes % inferences == 0 &&
            buffers[i]->bytes / inferences == bytes) {
            continue;
        }
        throw isa::ProgramError(
            fmt::format("{}: {} \"{}\" must fill its buffer, {} elements of {} for each of {} inferences",
                        name, side, tensor.name, elements_in(tensor), name_of(tensor.type), inferences));
    }
}

void check_border(const isa::Program& program, const machine::MachineConfig& machine,
                  const std::string& name) {
    check_border(program, machine, isa::BufferKind::Input, name);
    check_border(program, machine, isa::BufferKind::Output, name);
}

/// The output that has classes, or null.
const isa::BorderTensor* classes_of(const Prepared& prepared) {
    const std::optional<std::size_t> output = class_output(prepared.program, prepared.of_arrays);
    return output ? &prepared.program.outputs[*output] : nullptr;
}

[[noreturn]] void fail_without_classes(const isa::Program& program, const std::string& name,
                                       const char* what) {
    if (program.arrays && program.arrays->replicas > 1) {
        throw isa::ProgramError(
            fmt::format("{}: {} need an output for each inference; its {} replicas share arrays", name, what,
                        program.arrays->replicas));
    }
    throw isa::ProgramError(
        fmt::format("{}: {} need an output that is a vector of two or more; {}", name, what,
                    program.outputs.size() > 1
                        ? fmt::format("of its {} outputs, not exactly one is", program.outputs.size())
                        : std::string("its output is not")));
}

/// The labels of the input's images, whose file must have one for each image, also for those beyond the
/// limit.
std::vector<std::uint32_t> read_labels(const RunSpec& spec, const std::vector<NamedImages>& inputs) {
    if (!spec.data.labels || inputs.empty()) return {};
    const std::string& path = spec.data.labels->path.text;
    const NamedImages* const first = first_without_state(inputs);
    if (first == nullptr) {
        throw input::InputError(
            fmt::format("{}: all inputs are state, and have no images with labels", path));
    }
    const NamedImages& input = *first;
    std::vector<std::uint32_t> labels = input::read_labels(path);
    if (labels.size() != input.in_files) {
        throw input::InputError(fmt::format("{}: there are {} labels; {} has {} images", path, labels.size(),
                                            input.name, input.in_files));
    }
    return labels;
}

/// The names of the output's classes; empty if the run gives none.
std::vector<std::string> read_label_names(const RunSpec& spec, const Prepared& prepared,
                                          const std::string& name) {
    if (!spec.data.label_names) return {};
    const isa::BorderTensor* const output = classes_of(prepared);
    if (output == nullptr) fail_without_classes(prepared.program, name, "label names");
    const std::string& path = spec.data.label_names->path.text;
    std::vector<std::string> names = input::read_label_names(path);
    const std::uint32_t classes = output->shape.back();
    if (names.size() == classes) return names;
    throw input::InputError(
        fmt::format("{}: there are {} names; {} has {} classes", path, names.size(), name, classes));
}

/// Throws unless each label is a class of the output.
void check_labels(const RunSpec& spec, const Prepared& prepared, const std::string& name) {
    if (prepared.labels.empty()) return;
    const isa::BorderTensor* const output = classes_of(prepared);
    if (output == nullptr) fail_without_classes(prepared.program, name, "labels");
    const std::uint32_t classes = output->shape.back();
    const auto wrong =
        std::ranges::find_if(prepared.labels, [&](std::uint32_t label) { return label >= classes; });
    if (wrong == prepared.labels.end()) return;
    throw input::InputError(fmt::format("{}: label {} is {}; {} has {} classes, 0 to {}",
                                        spec.data.labels->path.text, wrong - prepared.labels.begin(), *wrong,
                                        name, classes, classes - 1));
}

std::vector<std::vector<float>> float_outputs(const RunSpec& spec, const ir::Graph& graph,
                                              const std::vector<NamedImages>& inputs) {
    // A sum over the images of a batch has the batches of the chip, which are all full.
    const std::uint64_t most_at_once = ir::mixes_images(graph) ? spec.compiler.batch : 256;
    const std::uint64_t all = inputs.front().images.count;
    std::vector<std::vector<float>> outputs(graph.outputs.size());
    const std::vector<Normalization> normalizations = normalizations_of(spec, graph);
    for (std::uint64_t first = 0; first < all; first += most_at_once) {
        const auto count = static_cast<std::uint32_t>(std::min(most_at_once, all - first));
        std::vector<std::vector<float>> values;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            values.push_back(to_floats(inputs[i].images, first, count, normalizations[i]));
        }
        const std::vector<std::span<const float>> spans(values.begin(), values.end());
        const std::vector<std::vector<float>> some = reference::execute(graph, spans, count);
        for (std::size_t i = 0; i < some.size(); ++i) {
            outputs[i].insert(outputs[i].end(), some[i].begin(), some[i].end());
        }
    }
    return outputs;
}

void check_program_input(const Prepared& prepared, const std::string& name, bool timing_only) {
    const std::vector<NamedImages>& inputs = prepared.inputs;
    const isa::Program& program = prepared.program;
    if (inputs.empty()) {
        if (program.inputs.empty() || timing_only) return;
        throw isa::ProgramError(
            fmt::format("{}: the program takes {}; give --input, --random-input or --timing-only", name,
                        prepared.of_arrays ? "arrays" : "images"));
    }
    const NamedImages* const first = first_without_state(inputs);
    if (first != nullptr && first->images.count != program.inferences) {
        throw isa::ProgramError(fmt::format("{}: the program was made for {} {}; {} has {}", name,
                                            program.inferences, prepared.of_arrays ? "inferences" : "images",
                                            first->name, first->images.count));
    }
}

/// The images of a program's run: files or made-up ones.
std::vector<NamedImages> program_input(const RunSpec& spec, const isa::Program& program,
                                       const std::string& name) {
    const bool is_random = spec.data.random_input > 0;
    if (spec.data.input.empty() && !is_random) return {};
    if (program.inputs.empty()) {
        throw isa::ProgramError(
            is_random ? fmt::format("{}: the program takes no input, so --random-input does not apply", name)
                      : fmt::format("{}: the program takes no images; it declares no input", name));
    }
    const std::vector<InputTensor> tensors = array_tensors(program);
    const std::uint64_t count = spec.compiler.limit > 0 ? spec.compiler.limit : program.inferences;
    if (takes_arrays(program, spec.machine)) return array_inputs(spec, tensors, name, count);
    if (is_random) return random_inputs(spec, tensors, count);
    std::vector<NamedImages> inputs = read_input(spec, tensors, name);
    for (const NamedImages& input : inputs) check_normalization(input, program_normalization(spec));
    return inputs;
}

/// The name of the program or network in messages.
std::string name_of(const RunSpec& spec, const isa::Program& program) {
    return spec.program ? spec.labels.program : program.model;
}

/// The program; without a name of its own it gets that of its file.
isa::Program named_program(const Content& content) {
    isa::Program program = read_program(content.path.text);
    if (program.model.empty()) program.model = std::filesystem::path(content.name).stem().string();
    return program;
}

/// The input buffers of a program that takes no images. Nothing fills them, so they hold zeros.
std::vector<std::string> unfilled_buffers(const isa::Program& program) {
    std::vector<std::string> names;
    for (const isa::HostBuffer& buffer : program.buffers) {
        if (buffer.kind == isa::BufferKind::Input) names.push_back(buffer.name);
    }
    return names;
}

/// Tells an observer that the run has failed, unless it was dismissed.
class FailureNotice {
public:
    explicit FailureNotice(Observer* observer) : observer_(observer) {}
    ~FailureNotice() {
        if (observer_ != nullptr) observer_->failed();
    }
    FailureNotice(const FailureNotice&) = delete;
    FailureNotice& operator=(const FailureNotice&) = delete;

    void dismiss() { observer_ = nullptr; }

private:
    Observer* observer_;
};

/// The machine of a run, with all its listeners. Each core has its own; phases and registers are those of the
/// first one.
class Simulation {
public:
    Simulation(const RunSpec& spec, const isa::Program& program, Observer* observer) : program_(program) {
        const Observed& observed = spec.observed;
        if (observed.power_windows > 0 && !spec.machine.has_event_energy()) {
            throw machine::ConfigError(
                "power_windows: the machine has no section energy, tile_energy or tensor_energy, from which "
                "power over time follows");
        }
        if (observer != nullptr) observer->begin(program, spec.machine);
        for (std::uint32_t core = 0; core < spec.machine.cores(); ++core) listen(core, observed, observer);
        if (observed.phases) listeners_.front().add(&phases_.emplace());
        if (!observed.registers.empty()) {
            if (const auto reason = spec.machine.no_cells_reason()) {
                throw machine::ConfigError("registers: " + *reason);
            }
            if (spec.machine.cores() > 1) {
                throw machine::ConfigError(
                    fmt::format("registers: they are shown of machines with one core; {} has {}",
                                spec.machine.name, spec.machine.cores()));
            }
            register_listeners_.add(
                &register_recorder_.emplace(read_cycle_range(observed.registers), registers_));
        }
        if (observer != nullptr) register_listeners_.add(observer->registers());
        if (spec.host && isa::uses_host(program)) {
            host_.emplace(program, baselines::read_baseline(nlohmann::json(*spec.host), "host"),
                          static_cast<double>(spec.machine.clock_hz()), !spec.timing_only);
        }
        std::vector<hw::CoreObservers> others;
        for (std::uint32_t core = 1; core < spec.machine.cores(); ++core) {
            others.push_back({.trace = listeners_[core].sink(), .host_trace = &batches_[core]});
        }
        system_.emplace(
            "tpu", spec.machine, program,
            hw::SystemOptions{.values = spec.timing_only ? hw::Values::TimingOnly : hw::Values::Computed,
                              .trace = listeners_.front().sink(),
                              .host_trace = &batches_.front(),
                              .registers = register_listeners_.sink(),
                              .other_cores = std::move(others),
                              .host = host_ ? &*host_ : nullptr,
                              .test_delta_delay = {}});
    }

    hw::System& system() { return *system_; }

    void run(const Progress& progress) {
        if (!progress) return system_->run();
        constexpr Cycle pause = 1'000'000;  // simulated in a few hundredths of a second
        const std::uint64_t instructions = program_.instructions.size() * listeners_.size();  // of all cores
        system_->run([&](hw::InstructionNumber issued) { progress(issued, instructions); }, pause);
    }

    /// Moves the chip's counters and the listeners' recordings into the record.
    void record(RunRecord& record) && {
        record.cycles = system_->cycles();
        record.units = system_->descriptions();
        record.counters = counters_of(*system_);
        record.parts = parts_of(*system_);
        record.bounds = system_->bounds();
        record.bounds.insert(record.bounds.begin(), macs_bound(record));
        record.speed.gemm = system_->core().product_seconds();
        const std::uint64_t full = program_.batch > 0 ? program_.inferences / program_.batch : 0;
        record.latency = latency_of(batches_of(batches_, program_, record.cycles), full);
        if (host_) record.host_segments = host_->work();
        record_cores(record);
        for (const ActivityRecorder& core : activities_) {
            if (&core != &activities_.front()) activities_.front().add(core);
        }
        if (!activities_.empty()) record.work = activities_.front().work();
        if (phases_) record.phases = phases_->phases();
        if (register_recorder_) register_recorder_->check(record.cycles);
        record.registers = std::move(registers_);
    }

private:
    /// Adds the listeners of a core.
    void listen(std::uint32_t core, const Observed& observed, Observer* observer) {
        hw::TraceFanOut& own = listeners_.emplace_back();
        if (observed.instruction_times) own.add(&times_.emplace_back(program_));
        if (observed.power_windows > 0) own.add(&activities_.emplace_back());
        if (observer != nullptr) own.add(observer->trace(core));
        if (observed.occupancy) own.add(&spans_.emplace_back());
        batches_.emplace_back(core);
    }

    /// What was noted of the instructions of each core: of equal cores once.
    void record_cores(RunRecord& record) {
        const auto noted = static_cast<std::uint32_t>(std::max(times_.size(), spans_.size()));
        std::vector<CoresAlike> groups;
        const auto is_like = [this](std::uint32_t core, std::uint32_t other) {
            return (times_.empty() || times_[core].times() == times_[other].times()) &&
                   (spans_.empty() || spans_[core].spans() == spans_[other].spans());
        };
        for (std::uint32_t core = 0; core < noted; ++core) {
            const auto alike = std::ranges::find_if(
                groups, [&](const CoresAlike& group) { return is_like(group.cores.front(), core); });
            if (alike != groups.end()) {
                alike->cores.push_back(core);
            } else {
                groups.push_back({.cores = {core}});
            }
        }
        for (CoresAlike& group : groups) {
            const std::uint32_t core = group.cores.front();
            if (!times_.empty()) {
                group.instruction_times = instruction_lines(program_, times_[core].times(), record.cycles);
            }
            if (!spans_.empty()) {
                group.occupancy = std::move(spans_[core]).occupancy(program_, record.cycles, record.units);
            }
        }
        if (groups.empty()) return;
        record.instruction_times = std::move(groups.front().instruction_times);
        record.occupancy = std::move(groups.front().occupancy);
        groups.front().instruction_times.clear();
        groups.front().occupancy.reset();
        if (noted > 1) record.cores_alike = std::move(groups);
    }

    const isa::Program& program_;
    std::deque<BatchRecorder> batches_;        ///< by core
    std::deque<TimesRecorder> times_;          ///< by core
    std::deque<ActivityRecorder> activities_;  ///< by core
    std::deque<SpanRecorder> spans_;           ///< by core
    std::optional<PhaseRecorder> phases_;
    RegisterDump registers_;
    std::optional<RegisterRecorder> register_recorder_;
    std::deque<hw::TraceFanOut> listeners_;  ///< by core
    hw::RegisterFanOut register_listeners_;
    std::optional<SegmentHost> host_;  ///< declared before the system, which refers to it
    std::optional<hw::System> system_;
};

/// The bytes that a view shows, after the run.
std::span<const std::uint8_t> bytes_of(const BufferView& view, hw::System& system) {
    if (view.memory == isa::MemoryId::HostMemory) return system.host_bytes(*view.buffer);
    const auto values = system.core().values(view.memory, view.first_row, view.rows, view.tile);
    if (values.empty()) throw std::logic_error("a view of a memory that no unit of the machine holds");
    return values;
}

/// Makes float32 what a machine of floats takes: no subnormal number, and one NaN.
void settle(std::span<std::uint8_t> floats) {
    for (std::size_t first = 0; first + sizeof(float) <= floats.size(); first += sizeof(float)) {
        float x = 0.0F;
        std::memcpy(&x, floats.data() + first, sizeof x);
        x = math::settled(x);
        std::memcpy(floats.data() + first, &x, sizeof x);
    }
}

/// Inferences that fill up the last batch are the first one again: what a chip computes of them is not read,
/// but an index in it must name a row.
void fill_padding(const isa::HostBuffer& buffer, std::uint64_t inferences, hw::System& system) {
    const std::span<std::uint8_t> padding = system.host_padding(buffer);
    const std::span<const std::uint8_t> first = system.host_bytes(buffer).first(buffer.bytes / inferences);
    for (std::size_t at = 0; at + first.size() <= padding.size(); at += first.size())
        std::ranges::copy(first, padding.subspan(at).begin());
}

/// Writes the inputs to host memory, where the chip fetches them, and records the host's work for them.
void fill_inputs(RunRecord& record, const Prepared& prepared, hw::System& system) {
    const std::vector<const isa::HostBuffer*> buffers = buffers_of(prepared.program, isa::BufferKind::Input);
    const std::vector<Normalization> normalizations =
        prepared.graph
            ? normalizations_of(record.spec, *prepared.graph)
            : std::vector<Normalization>(prepared.inputs.size(), program_normalization(record.spec));
    for (std::size_t i = 0; i < prepared.inputs.size(); ++i) {
        const input::Images& images = prepared.inputs[i].images;
        const isa::BorderTensor& tensor = prepared.program.inputs.at(i);
        const Storage storage = tensor.storage();
        const Normalization& normalization = normalizations[i];
        // An array of floats takes real numbers as they are given.
        if (!record.spec.machine.matrix_unit.computes_floats() &&
            !stored_unchanged(images, normalization, storage)) {
            record.host_work.push_back({.kind = "quantize_input",
                                        .layer = tensor.name,
                                        .elements = images.size(),
                                        .type = tensor.type,
                                        .calls = host_calls(prepared.program),
                                        .seconds = {}});
        }
        if (record.spec.timing_only) continue;
        store(images, normalization, storage, system.host_bytes(*buffers.at(i)));
        if (record.spec.machine.computes_floats() && is_float(tensor.type))
            settle(system.host_bytes(*buffers.at(i)));
        fill_padding(*buffers[i], isa::inferences_of_input(prepared.program, i), system);
    }
}

void compare_with_float(RunRecord& record, const Prepared& prepared) {
    const ir::Graph& graph = *prepared.graph;
    const std::uint64_t count = prepared.inputs.front().images.count;
    std::vector<std::vector<float>> outputs = float_outputs(record.spec, graph, prepared.inputs);
    std::vector<std::uint32_t> predictions;
    if (const auto with_classes = class_output(prepared.program)) {
        predictions = reference::argmax(outputs.at(*with_classes), static_cast<std::uint32_t>(count));
    }
    if (record.spec.observed.float_outputs) {
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            record.answers.float_output_arrays.push_back(
                output_array(graph.values[graph.outputs[i]], count, std::move(outputs[i])));
        }
        add_constant_outputs(graph, record.answers.float_output_arrays);
    }
    if (!record.spec.float_reference) return;
    const std::vector<std::uint32_t>& ours = record.answers.outputs->predictions;
    if (!predictions.empty() && ours.size() == predictions.size()) {
        std::uint64_t agreements = 0;
        for (std::size_t i = 0; i < ours.size(); ++i) agreements += ours[i] == predictions[i] ? 1 : 0;
        record.answers.float_agreements = agreements;
    }
    if (!prepared.labels.empty()) record.answers.float_accuracy = accuracy(predictions, prepared.labels);
}

/// Adds accuracy and best classes, which are computed from the outputs and predictions of the record.
void add_labelled_answers(RunRecord& record, const Prepared& prepared) {
    const Outputs& outputs = *record.answers.outputs;
    if (!prepared.labels.empty()) {
        record.answers.accuracy = accuracy(outputs.predictions, prepared.labels);
    }
    if (!prepared.label_names.empty()) {
        record.answers.best_classes = best_classes(outputs, prepared.label_names);
    }
}

/// The answers of a network of arrays.
void add_arrays(RunRecord& record, const Prepared& prepared, hw::System& system) {
    const isa::Program& program = prepared.program;
    const std::vector<const isa::HostBuffer*> buffers = buffers_of(program, isa::BufferKind::Output);
    const std::size_t main = class_output(program, true).value_or(0);
    const bool with_predictions = record.spec.data.labels || record.spec.data.label_names;
    std::vector<OutputArray> arrays;
    std::vector<DataType> types;  // of the network; files have float32 for bfloat16
    const bool is_network = prepared.graph && !ir::is_program(*prepared.graph);
    for (std::size_t i = 0; i < program.outputs.size(); ++i) {
        const std::span<const std::uint8_t> bytes = system.host_bytes(*buffers.at(i));
        std::vector<std::uint32_t> words(bytes.size() / isa::word_bytes);
        std::memcpy(words.data(), bytes.data(), bytes.size());
        if (i == main) record.answers.outputs = read_word_outputs(program, words, i, with_predictions);
        const ir::Value* const value =
            prepared.graph ? &prepared.graph->values[prepared.graph->outputs.at(i)] : nullptr;
        arrays.push_back(array_of_words(program, value, std::move(words), i, is_network));
        types.push_back(program.outputs[i].type);
    }
    add_constant_arrays(program, arrays, types);
    for (std::size_t i = 0; i < arrays.size(); ++i)
        record.answers.shown_outputs.push_back(shown_output(arrays[i], types[i]));
    if (record.spec.observed.outputs) record.answers.output_arrays = std::move(arrays);
    add_labelled_answers(record, prepared);
}

/// The record's answers are those of the output with classes, or else of the first.
void add_answers(RunRecord& record, const Prepared& prepared, hw::System& system) {
    if (prepared.of_arrays) return add_arrays(record, prepared, system);
    const isa::Program& program = prepared.program;
    const std::vector<const isa::HostBuffer*> buffers = buffers_of(program, isa::BufferKind::Output);
    const std::size_t main = class_output(program).value_or(0);
    for (std::size_t i = 0; i < program.outputs.size(); ++i) {
        if (i != main && !record.spec.observed.outputs) continue;
        const std::span<const std::uint8_t> stored = system.host_bytes(*buffers.at(i));
        Outputs outputs = read_outputs(program, stored, i);
        if (record.spec.observed.outputs) {
            const ir::Value* const value =
                prepared.graph ? &prepared.graph->values[prepared.graph->outputs.at(i)] : nullptr;
            record.answers.output_arrays.push_back(output_array(program, value, outputs, stored, i));
        }
        if (i == main) record.answers.outputs = std::move(outputs);
    }
    if (record.spec.observed.outputs && prepared.graph) {
        add_constant_outputs(*prepared.graph, record.answers.output_arrays);
    }
    const Outputs& outputs = *record.answers.outputs;
    add_labelled_answers(record, prepared);
    if (prepared.inputs.size() == 1 && record.spec.data.random_input == 0 && record.spec.observed.pictures) {
        record.pictures = choose_pictures(prepared.inputs.front().images, outputs, prepared.labels,
                                          !program.host_operations.empty());
        if (record.spec.data.preparation.channels == ChannelOrder::Bgr) reverse_channels(record.pictures);
    }
    if (record.spec.float_reference || record.spec.observed.float_outputs) {
        compare_with_float(record, prepared);
    }
}

void time_host_work(RunRecord& record) {
    if (!record.spec.host) return;
    const baselines::Baseline host = baselines::read_baseline(nlohmann::json(*record.spec.host), "host");
    for (HostWork& work : record.host_work) work.seconds = host_seconds(work, host);
}

std::uint64_t peak_rss_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    constexpr std::uint64_t kilobyte = 1024;
    return static_cast<std::uint64_t>(usage.ru_maxrss) * kilobyte;
}

}  // namespace

isa::Program read_program(const std::filesystem::path& path) {
    const auto bytes = read_input_file<isa::ProgramError, std::vector<std::uint8_t>>(path);
    constexpr std::uint8_t first_byte_of_program_files = 0x89;  // above every byte of assembly text
    const bool is_binary = !bytes.empty() && bytes.front() == first_byte_of_program_files;
    if (is_binary || path.extension() == ".tpu") return isa::read_program(bytes, path.string());
    return isa::assemble(std::string(bytes.begin(), bytes.end()), path.string());
}

std::string prepared_key(const RunSpec& spec) {
    // The key covers all fields but those cleared here, so that no new field is forgotten.
    RunSpec seen = spec;
    seen.machine = {};
    seen.observed = {};
    // A quantized network is refused with these.
    seen.observed.float_outputs = spec.observed.float_outputs;
    seen.observed.layer_accuracy = spec.observed.layer_accuracy;
    seen.host.reset();
    seen.baselines.clear();
    seen.host_time = RunSpec().host_time;
    return hash_of(mapping_key(spec) + compared_bytes(seen));
}

namespace {

/// Whether calibration computes so much that a network which does not fit the machine is better refused
/// before it.
bool takes_long_to_calibrate(const ir::Graph& graph) {
    constexpr std::uint64_t many = std::uint64_t{1} << 27U;  // seconds for one inference
    std::uint64_t elements = 0;
    for (const ir::Value& value : graph.values) {
        if (!value.constant) elements += value.shape.elements();
    }
    return graph.has_weights && !ir::is_quantized(graph) && elements >= many;
}

/// Compiles the network as for a timing-only run, which no value of its weights and images changes. Throws
/// what makes it impossible.
void check_compiles(const ir::Graph& graph, const RunSpec& spec, const std::vector<NamedImages>& inputs) {
    RunSpec timed = spec;
    timed.timing_only = true;
    naming_file(spec, graph, [&] {
        const ir::Graph shapes = compiler::ready_for_run(graph, {.timing_only = true});
        compiler::Options options = compiler_options(timed, graph, inputs);
        options.simulate = {};  // one mapping that fits is enough
        return compiler::compile(shapes, calibration_of(shapes, timed, {}), spec.machine, options);
    });
}

/// Reads from the shape of the input that takes the examples how many a step has.
void find_examples(const RunSpec& spec, Prepared& prepared) {
    const std::vector<InputTensor> inputs = array_tensors(*prepared.graph);
    const std::string place = spec.labels.run.value("state", std::string("state"));
    if (!prepared.of_arrays) {
        throw machine::ConfigError(
            fmt::format("{}: it describes the steps of a program; {} is a network, which takes any batch",
                        place, spec.network->path.text));
    }
    auto found = std::ranges::find(inputs, spec.examples, &InputTensor::name);
    if (found == inputs.end()) {
        const auto position = position_in(spec.examples, inputs.size());
        if (!position) {
            throw machine::ConfigError(
                fmt::format("{}: images is {}; {} has no input of that name or position", place,
                            in_quotes(spec.examples), spec.network->path.text));
        }
        found = inputs.begin() + static_cast<std::ptrdiff_t>(*position);
    }
    const std::vector<std::uint32_t> shape = array_shape(*found);
    if (shape.empty() || found->state_inferences > 0) {
        throw machine::ConfigError(fmt::format(
            "{}: images is {}, which is {} of {}; it must take examples", place, in_quotes(found->name),
            found->state_inferences > 0 ? "state" : "one number", spec.network->path.text));
    }
    prepared.examples = shape.front();
    prepared.examples_of_core = found->split_axis == 0 ? shape.front() / found->replicas : shape.front();
}

/// Throws where the number of examples in a step is asked for, and nothing says it: an inference of a network
/// of arrays may be of any number of them.
void check_feeding(const RunSpec& spec, const Prepared& prepared, const std::string& name) {
    const Feeding& feeding = spec.feeding;
    if (feeding.example_us == 0.0 || feeding.examples > 0) return;
    if (!prepared.of_arrays && prepared.program.batch > 0) return;
    throw machine::ConfigError(fmt::format(
        "feeding.examples is 0; {} does not say how many examples a step has: give their number", name));
}

}  // namespace

Prepared prepare(const RunSpec& spec) {
    Prepared prepared;
    if (spec.program) {
        const Stopwatch reading;
        prepared.program = named_program(*spec.program);
        prepared.read_seconds = reading.seconds();
    } else {
        if (spec.data.input.empty() && spec.data.random_input == 0 && !spec.timing_only) {
            throw machine::ConfigError(
                "a run computes on its input: give --input, --random-input or --timing-only");
        }
        ReadNetwork read = read_model(spec);
        prepared.graph = std::move(read.graph);
        prepared.read_seconds = read.seconds;
        prepared.of_arrays = takes_arrays(*prepared.graph, spec.machine);
        const bool wants_floats = spec.float_reference || spec.observed.float_outputs;
        if (wants_floats && !prepared.graph->state.empty()) {
            throw machine::ConfigError(fmt::format(
                "{} is given; {} has state, which the float network that is "
                "computed beside a run does not keep",
                spec.float_reference ? "float_reference" : "float_outputs", prepared.graph->name));
        }
        if (prepared.of_arrays && wants_floats) {
            throw machine::ConfigError(fmt::format(
                "{} is given; the operators of {} state each bit of its numbers: there is no other "
                "float network to compare with",
                spec.float_reference ? "float_reference" : "float_outputs", prepared.graph->name));
        }
        if (spec.float_reference && ir::is_quantized(*prepared.graph)) {
            throw machine::ConfigError(fmt::format(
                "float_reference is true; {} is already quantized: there is no float network to compare with",
                prepared.graph->name));
        }
        if (spec.observed.layer_accuracy && spec.machine.computes_floats()) {
            throw machine::ConfigError(
                fmt::format("--show accuracy (accuracy_by_layer) compares layers on integers with the float "
                            "network; machine {} computes in floats",
                            spec.machine.name));
        }
        if (spec.observed.layer_accuracy && ir::is_quantized(*prepared.graph)) {
            throw machine::ConfigError(
                fmt::format("{} is already quantized: there is no float network with which --show accuracy "
                            "(accuracy_by_layer) could compare its layers",
                            prepared.graph->name));
        }
        if (spec.observed.float_outputs && ir::is_quantized(*prepared.graph)) {
            throw machine::ConfigError(
                fmt::format("float_outputs is given; {} is already quantized: there is no float network",
                            prepared.graph->name));
        }
        prepared.network = baselines::network_of(*prepared.graph);
        if (!spec.examples.empty()) find_examples(spec, prepared);
        // Data before the compilation, which takes longer, so that errors in it show first.
        prepared.inputs =
            naming_file(spec, *prepared.graph, [&] { return read_input(spec, *prepared.graph); });
        prepared.labels = read_labels(spec, prepared.inputs);
        if (!spec.machine.computes_floats() && takes_long_to_calibrate(*prepared.graph))
            check_compiles(*prepared.graph, spec, prepared.inputs);
        prepared.program = naming_file(spec, *prepared.graph, [&] {
            compiler::Compiled compiled =
                compiler::compile(*prepared.graph, calibration_of(*prepared.graph, spec, prepared.inputs),
                                  spec.machine, compiler_options(spec, *prepared.graph, prepared.inputs));
            prepared.batch = compiled.batch;
            prepared.cut_images = std::move(compiled.cut_images);
            declare_arrays(compiled.program, *prepared.graph, spec.machine);
            return std::move(compiled.program);
        });
    }
    const isa::Program& program = prepared.program;
    const std::string name = name_of(spec, program);
    check_host_operations(program);
    check_border(program, spec.machine, name);
    if (spec.program) {
        prepared.of_arrays = takes_arrays(program, spec.machine);
        prepared.inputs = program_input(spec, program, name);
        prepared.labels = read_labels(spec, prepared.inputs);
    }
    check_feeding(spec, prepared, name);
    check_program_input(prepared, name, spec.timing_only);
    check_labels(spec, prepared, name);
    prepared.label_names = read_label_names(spec, prepared, name);
    if (!prepared.labels.empty()) prepared.labels.resize(first_without_state(prepared.inputs)->images.count);
    const ir::Graph* const graph = prepared.graph ? &*prepared.graph : nullptr;
    prepared.warnings = file_warnings(prepared.inputs);
    std::ranges::move(scale_warnings(spec, graph, program.inputs, prepared.inputs),
                      std::back_inserter(prepared.warnings));
    if (graph != nullptr && !spec.timing_only)
        prepared.pixel_scaling = own_scaling(spec, *graph, prepared.inputs);
    std::ranges::move(storage_warnings(spec, program.inputs, prepared.inputs),
                      std::back_inserter(prepared.warnings));
    if (spec.timing_only) {  // a worker keeps many prepared runs, and copies them with each fork
        for (NamedImages& input : prepared.inputs) drop_values(input.images);
    }
    return prepared;
}

RunRecord simulate(const RunSpec& spec, const Prepared& prepared, Observer* observer,
                   const Progress& progress) {
    const Stopwatch total;
    const isa::Program& program = prepared.program;
    const std::string name = name_of(spec, program);
    check_border(program, spec.machine, name);
    RunRecord record;
    record.spec = spec;
    record.program = facts_of(program, spec.machine);
    record.batch = prepared.batch;
    record.cut_images = prepared.cut_images;
    record.pixel_scaling = prepared.pixel_scaling;
    record.network = prepared.network;
    record.program.examples = prepared.examples;
    record.program.examples_of_core = prepared.examples_of_core;
    if (prepared.graph) record.program.sequence = sequence_of(*prepared.graph);
    FailureNotice notice(observer);  // declared after the objects that the observer refers to
    try {
        std::vector<BufferView> views;  // looked up first, so that errors show before the simulation
        for (const std::string& text : spec.observed.print) {
            views.push_back(find_view(program, spec.machine, text));
        }
        Simulation simulation(record.spec, program, observer);
        hw::System& system = simulation.system();
        if (!prepared.inputs.empty()) {
            fill_inputs(record, prepared, system);
        } else if (!spec.timing_only) {
            record.unfilled_buffers = unfilled_buffers(program);
        }
        record.speed.prepare = total.seconds();
        simulation.run(progress);
        record.speed.simulate = total.seconds() - record.speed.prepare;
        for (const BufferView& view : views) {
            record.printed.push_back(read_contents(view, bytes_of(view, system)));
        }
        if (!program.outputs.empty()) {
            const std::vector<HostWork> work = output_work(program);
            record.host_work.insert(record.host_work.end(), work.begin(), work.end());
        }
        if (!program.outputs.empty() && !spec.timing_only) add_answers(record, prepared, system);
        std::move(simulation).record(record);
    } catch (const isa::ProgramErrorAtLine& error) {
        throw isa::ProgramError(fmt::format("{}:{}: {}", name, error.line, error.what()));
    } catch (const isa::ProgramError& error) {
        throw isa::ProgramError(fmt::format("{}: {}", name, error.what()));
    }
    if (spec.observed.layer_accuracy) {
        record.answers.layer_accuracy = naming_file(
            spec, *prepared.graph, [&] { return layer_accuracy(spec, *prepared.graph, prepared.inputs); });
    }
    time_host_work(record);
    if (observer != nullptr) observer->finish(record);
    notice.dismiss();
    record.speed.peak_rss_bytes = peak_rss_bytes();
    record.speed.total = total.seconds();
    return record;
}

RunRecord run(const RunSpec& spec, Observer* observer, const Progress& progress) {
    const Stopwatch time;
    const RunsBeside beside(spec);  // first, because preparing values starts threads
    const Prepared prepared = prepare(spec);
    const double seconds = time.seconds();
    if (observer != nullptr) {
        for (const std::string& warning : prepared.warnings) observer->warn(warning);
    }
    RunRecord record = simulate(spec, prepared, observer, progress);
    beside.add_to(record);
    record.speed.read = prepared.read_seconds;
    record.speed.prepare += seconds;
    record.speed.total += seconds;
    return record;
}

}  // namespace systole::run
