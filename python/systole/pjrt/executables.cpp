// Programs: what Python compiled, and their execution.
#include <csignal>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "bridge.h"
#include "objects.h"

namespace systole::pjrt {
namespace {

/// Programs that Python may forget.
struct Ended {
    std::mutex guard;
    std::vector<std::int64_t> keys;
};

/// Never destroyed: JAX may give programs back after static objects have ended.
Ended& ended() {
    static auto* const all = new Ended;
    return *all;
}

PJRT_Error* nothing_there() {
    return error(PJRT_Error_Code_FAILED_PRECONDITION, "Python ends, and with it the device systole");
}

/// The program that Python is describing. It is described before anyone else sees it.
struct Description {
    Program& program;
    const PJRT_Client& client;
};

PJRT_Error* compile(PJRT_Client_Compile_Args* args) {
    const SystoleCallbacks* const python = callbacks();
    if (python == nullptr) return nothing_there();
    const std::string_view format(args->program->format, args->program->format_size);
    if (format != "mlir") {
        return error(PJRT_Error_Code_UNIMPLEMENTED,
                     "the device systole takes programs of StableHLO (mlir), not " + std::string(format));
    }
    auto program = std::make_shared<Program>();
    program->compile_options.assign(args->compile_options, args->compile_options_size);
    Description description{.program = *program, .client = *args->client};
    PJRT_Error failed{.code = PJRT_Error_Code_OK, .message = {}};
    python->compile(&description, args->program->code, args->program->code_size, args->compile_options,
                    args->compile_options_size, &failed);
    if (failed.code != PJRT_Error_Code_OK) return new PJRT_Error(failed);
    args->executable = new PJRT_LoadedExecutable{.program = std::move(program)};
    return nullptr;
}

/// Where the arrays of all devices lie, one device after the other.
struct ArrayList {
    std::vector<std::shared_ptr<std::vector<std::byte>>>
        kept;  // another thread may delete an array meanwhile
    std::vector<void*> places;
    std::vector<std::uint64_t> numbers;

    void add(const PJRT_Buffer& buffer) {
        kept.push_back(buffer.data);
        places.push_back(buffer.data->data());
        numbers.push_back(buffer.number);
    }
};

PJRT_Error* add_arguments(const PJRT_LoadedExecutable_Execute_Args& args, const Program& program,
                          ArrayList& list) {
    for (std::size_t device = 0; device < args.num_devices; ++device) {
        for (std::size_t i = 0; i < args.num_args; ++i) {
            const PJRT_Buffer& buffer = *args.argument_lists[device][i];
            if (buffer.data == nullptr) {
                return error(
                    PJRT_Error_Code_INVALID_ARGUMENT,
                    program.name + ": argument " + std::to_string(i) + " was deleted, or donated before");
            }
            if (buffer.data->size() != program.argument_bytes[i]) {
                return error(PJRT_Error_Code_INVALID_ARGUMENT,
                             program.name + ": argument " + std::to_string(i) + " has " +
                                 std::to_string(buffer.data->size()) + " bytes; the program takes " +
                                 std::to_string(program.argument_bytes[i]));
            }
            list.add(buffer);
        }
    }
    return nullptr;
}

/// Donated arguments are gone after the call, unless the caller keeps them.
void take_donated(const PJRT_LoadedExecutable_Execute_Args& args, const Program& program) {
    std::vector<bool> is_taken = program.is_donated;
    for (std::size_t i = 0; i < args.options->num_non_donatable_input_indices; ++i) {
        is_taken.at(static_cast<std::size_t>(args.options->non_donatable_input_indices[i])) = false;
    }
    for (std::size_t device = 0; device < args.num_devices; ++device) {
        for (std::size_t i = 0; i < args.num_args; ++i) {
            if (is_taken[i]) args.argument_lists[device][i]->data = nullptr;
        }
    }
}

PJRT_Error* execute(PJRT_LoadedExecutable_Execute_Args* args) {
    const SystoleCallbacks* const python = callbacks();
    if (python == nullptr) return nothing_there();
    const Program& program = *args->executable->program;
    if (args->executable->is_deleted) {
        return error(PJRT_Error_Code_FAILED_PRECONDITION, program.name + " was deleted");
    }
    if (args->options->num_send_ops != 0 || args->options->num_recv_ops != 0) {
        return error(PJRT_Error_Code_UNIMPLEMENTED,
                     program.name + ": programs do not call the host while they run");
    }
    const bool is_on_one = args->execute_device != nullptr && program.devices.size() == 1;
    if ((args->execute_device != nullptr && !is_on_one) || args->num_devices != program.devices.size() ||
        args->num_args != program.argument_bytes.size()) {
        return error(PJRT_Error_Code_INVALID_ARGUMENT,
                     program.name + ": a call runs on all " + std::to_string(program.devices.size()) +
                         " devices of the program, with " + std::to_string(program.argument_bytes.size()) +
                         " arguments on each");
    }
    ArrayList arguments;
    if (PJRT_Error* failed = add_arguments(*args, program, arguments)) return failed;
    ArrayList outputs;
    std::vector<std::unique_ptr<PJRT_Buffer>> made;
    for (PJRT_Device* const device : program.devices) {
        for (const ArrayType& output : program.outputs) {
            made.push_back(std::make_unique<PJRT_Buffer>(output, is_on_one ? args->execute_device : device));
            outputs.add(*made.back());
        }
    }
    PJRT_Error failed{.code = PJRT_Error_Code_OK, .message = {}};
    python->execute(program.key, arguments.places.data(), arguments.numbers.data(), outputs.places.data(),
                    outputs.numbers.data(), &failed);
    // Ctrl-C ended the work there. Once the user's program goes on, Python raises its KeyboardInterrupt.
    if (failed.code == PJRT_Error_Code_CANCELLED) std::raise(SIGINT);
    if (failed.code != PJRT_Error_Code_OK) return new PJRT_Error(failed);
    take_donated(*args, program);
    for (std::size_t i = 0; i < made.size(); ++i) {
        args->output_lists[i / program.outputs.size()][i % program.outputs.size()] = made[i].release();
    }
    if (args->device_complete_events != nullptr) {
        for (std::size_t device = 0; device < args->num_devices; ++device) {
            args->device_complete_events[device] = new PJRT_Event;
        }
    }
    return nullptr;
}

PJRT_Error* destroy(PJRT_Executable_Destroy_Args* args) {
    delete args->executable;
    return nullptr;
}

PJRT_Error* name(PJRT_Executable_Name_Args* args) {
    args->executable_name = args->executable->program->name.c_str();
    args->executable_name_size = args->executable->program->name.size();
    return nullptr;
}

PJRT_Error* replicas(PJRT_Executable_NumReplicas_Args* args) {
    args->num_replicas = 1;
    return nullptr;
}

PJRT_Error* partitions(PJRT_Executable_NumPartitions_Args* args) {
    args->num_partitions = args->executable->program->devices.size();
    return nullptr;
}

PJRT_Error* output_count(PJRT_Executable_NumOutputs_Args* args) {
    args->num_outputs = args->executable->program->outputs.size();
    return nullptr;
}

PJRT_Error* code_size(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args* args) {
    args->size_in_bytes = -1;  // not known, as JAX has it
    return nullptr;
}

PJRT_Error* output_types(PJRT_Executable_OutputElementTypes_Args* args) {
    // The interface does not say const, and no caller writes there.
    args->output_types = const_cast<PJRT_Buffer_Type*>(args->executable->program->output_types.data());
    args->num_output_types = args->executable->program->output_types.size();
    return nullptr;
}

PJRT_Error* output_dimensions(PJRT_Executable_OutputDimensions_Args* args) {
    args->num_outputs = args->executable->program->outputs.size();
    args->dims = args->executable->program->output_dims.data();
    args->dim_sizes = args->executable->program->output_dim_counts.data();
    return nullptr;
}

PJRT_Error* output_memory_kinds(PJRT_Executable_OutputMemoryKinds_Args* args) {
    args->num_outputs = args->executable->program->outputs.size();
    args->memory_kinds = args->executable->program->output_memory_kinds.data();
    args->memory_kind_sizes = args->executable->program->output_memory_kind_sizes.data();
    return nullptr;
}

PJRT_Error* optimized_program(PJRT_Executable_OptimizedProgram_Args* args) {
    static constexpr std::string_view format = "hlo_with_config";
    const std::string& hlo = args->executable->program->hlo;
    PJRT_Program& program = *args->program;
    program.format = format.data();
    program.format_size = format.size();
    if (program.code == nullptr) {
        program.code_size = hlo.size();
        return nullptr;
    }
    if (program.code_size < hlo.size()) {
        return error(PJRT_Error_Code_INVALID_ARGUMENT,
                     "the program needs " + std::to_string(hlo.size()) + " bytes");
    }
    std::memcpy(program.code, hlo.data(), hlo.size());
    return nullptr;
}

PJRT_Error* compile_options(PJRT_Executable_GetCompileOptions_Args* args) {
    args->serialized_bytes = args->executable->program->compile_options.data();
    args->serialized_bytes_size = args->executable->program->compile_options.size();
    args->serialized_compile_options = nullptr;  // the program owns the bytes
    args->serialized_compile_options_deleter = [](PJRT_SerializedCompileOptions* /*none*/) {};
    return nullptr;
}

PJRT_Error* destroy_loaded(PJRT_LoadedExecutable_Destroy_Args* args) {
    delete args->executable;
    return nullptr;
}

PJRT_Error* get_executable(PJRT_LoadedExecutable_GetExecutable_Args* args) {
    args->executable = new PJRT_Executable{.program = args->loaded_executable->program};
    return nullptr;
}

PJRT_Error* devices(PJRT_LoadedExecutable_AddressableDevices_Args* args) {
    args->addressable_devices = args->executable->program->devices.data();
    args->num_addressable_devices = args->executable->program->devices.size();
    return nullptr;
}

PJRT_Error* device_assignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args* args) {
    args->serialized_bytes = args->executable->program->device_assignment.data();
    args->serialized_bytes_size = args->executable->program->device_assignment.size();
    args->serialized_device_assignment = nullptr;  // the program owns the bytes
    args->serialized_device_assignment_deleter = [](PJRT_DeviceAssignmentSerialized* /*none*/) {};
    return nullptr;
}

PJRT_Error* delete_loaded(PJRT_LoadedExecutable_Delete_Args* args) {
    args->executable->is_deleted = true;
    return nullptr;
}

PJRT_Error* is_deleted(PJRT_LoadedExecutable_IsDeleted_Args* args) {
    args->is_deleted = args->executable->is_deleted;
    return nullptr;
}

}  // namespace

Program::~Program() {
    if (key == 0) return;  // Python has not compiled it
    const std::lock_guard lock(ended().guard);
    ended().keys.push_back(key);
}

void Program::add_output(ArrayType output) {
    output_types.push_back(output.type);
    output_dims.insert(output_dims.end(), output.dims.begin(), output.dims.end());
    output_dim_counts.push_back(output.dims.size());
    output_memory_kinds.push_back(memory_kind);
    output_memory_kind_sizes.push_back(std::string_view(memory_kind).size());
    outputs.push_back(std::move(output));
}

void add_executables(PJRT_Api& api) {
    api.PJRT_Client_Compile = Guarded<compile>::call;
    api.PJRT_Executable_Destroy = destroy;
    api.PJRT_Executable_Name = name;
    api.PJRT_Executable_NumReplicas = replicas;
    api.PJRT_Executable_NumPartitions = partitions;
    api.PJRT_Executable_NumOutputs = output_count;
    api.PJRT_Executable_SizeOfGeneratedCodeInBytes = code_size;
    api.PJRT_Executable_OutputElementTypes = output_types;
    api.PJRT_Executable_OutputDimensions = output_dimensions;
    api.PJRT_Executable_OutputMemoryKinds = output_memory_kinds;
    api.PJRT_Executable_OptimizedProgram = optimized_program;
    api.PJRT_Executable_GetCompileOptions = compile_options;
    api.PJRT_LoadedExecutable_Destroy = destroy_loaded;
    api.PJRT_LoadedExecutable_GetExecutable = Guarded<get_executable>::call;
    api.PJRT_LoadedExecutable_AddressableDevices = devices;
    api.PJRT_LoadedExecutable_GetDeviceAssignment = device_assignment;
    api.PJRT_LoadedExecutable_Delete = delete_loaded;
    api.PJRT_LoadedExecutable_IsDeleted = is_deleted;
    api.PJRT_LoadedExecutable_Execute = Guarded<execute>::call;
}

}  // namespace systole::pjrt

using systole::pjrt::Description;

extern "C" {

std::int64_t systole_next_ended(void) {
    systole::pjrt::Ended& ended = systole::pjrt::ended();
    const std::lock_guard lock(ended.guard);
    if (ended.keys.empty()) return 0;
    const std::int64_t key = ended.keys.back();
    ended.keys.pop_back();
    return key;
}

void systole_set_program(void* program, std::int64_t key, const char* name) {
    systole::pjrt::Program& described = static_cast<Description*>(program)->program;
    described.key = key;
    described.name = name;
}

void systole_add_device(void* program, std::int64_t id) {
    auto& [described, client] = *static_cast<Description*>(program);
    described.devices.push_back(client.devices.at(static_cast<std::size_t>(id)));
}

void systole_add_argument(void* program, std::int64_t bytes, int is_donated) {
    systole::pjrt::Program& described = static_cast<Description*>(program)->program;
    described.argument_bytes.push_back(static_cast<std::size_t>(bytes));
    described.is_donated.push_back(is_donated != 0);
}

void systole_add_output(void* program, int type, const std::int64_t* dims, std::int64_t rank) {
    static_cast<Description*>(program)->program.add_output(
        {.type = static_cast<PJRT_Buffer_Type>(type), .dims = {dims, dims + rank}});
}

void systole_set_protos(void* program, const char* hlo, std::int64_t hlo_size, const char* assignment,
                        std::int64_t assignment_size) {
    systole::pjrt::Program& described = static_cast<Description*>(program)->program;
    described.hlo.assign(hlo, static_cast<std::size_t>(hlo_size));
    described.device_assignment.assign(assignment, static_cast<std::size_t>(assignment_size));
}
}
