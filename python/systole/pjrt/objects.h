#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "xla/pjrt/c/pjrt_c_api.h"

/// The objects to which the pointers of PJRT's C interface point. JAX sees them through its functions alone.
///
/// All work is done when a function returns: Python runs the simulator in `execute`. So buffers always have
/// their values, and events are always ready; errors are those of the functions.

struct PJRT_Error {
    PJRT_Error_Code code = PJRT_Error_Code_INTERNAL;
    std::string message;
};

struct PJRT_Event {};

struct PJRT_DeviceDescription {
    int id = 0;
    std::string kind;
    std::string text;
};

struct PJRT_Memory {
    PJRT_Device* device = nullptr;
    std::string text;
};

struct PJRT_Device {
    PJRT_DeviceDescription description;
    PJRT_Memory memory;
    PJRT_Memory* memories[1] = {&memory};
};

struct PJRT_TopologyDescription {
    std::string platform_version;
    std::vector<PJRT_DeviceDescription*> descriptions;
};

struct PJRT_Client {
    std::vector<std::unique_ptr<PJRT_Device>> owned;
    std::vector<PJRT_Device*> devices;
    std::vector<PJRT_Memory*> memories;
    PJRT_TopologyDescription topology;
};

namespace systole::pjrt {

inline constexpr const char* platform = "systole";
inline constexpr const char* memory_kind = "device";

/// An array: row-major, without gaps.
struct ArrayType {
    PJRT_Buffer_Type type = PJRT_Buffer_Type_INVALID;
    std::vector<std::int64_t> dims;

    /// 0 where this device has no arrays of the type.
    std::size_t element_bytes() const;
    std::size_t bytes() const;
};

/// A program that Python has compiled, as JAX asks for it.
struct Program {
    std::string name;
    std::int64_t key = 0;                     ///< by which Python knows it
    std::vector<PJRT_Device*> devices;        ///< of each part; there are no replicas
    std::vector<std::size_t> argument_bytes;  ///< of each argument on one device
    std::vector<bool> is_donated;             ///< by argument
    std::vector<ArrayType> outputs;           ///< on one device
    std::string hlo;                          ///< serialized HloModuleProtoWithConfig
    std::string device_assignment;            ///< serialized DeviceAssignmentProto
    std::string compile_options;              ///< serialized CompileOptionsProto

    // The outputs in the form in which the interface asks for them.
    std::vector<PJRT_Buffer_Type> output_types;
    std::vector<std::int64_t> output_dims;
    std::vector<std::size_t> output_dim_counts;
    std::vector<const char*> output_memory_kinds;
    std::vector<std::size_t> output_memory_kind_sizes;

    Program() = default;
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    /// Python may forget it: `systole_next_ended`.
    ~Program();

    void add_output(ArrayType output);
};

}  // namespace systole::pjrt

struct PJRT_Executable {
    std::shared_ptr<const systole::pjrt::Program> program;
};

struct PJRT_LoadedExecutable {
    std::shared_ptr<const systole::pjrt::Program> program;
    bool is_deleted = false;
};

struct PJRT_Buffer {
    systole::pjrt::ArrayType array;
    PJRT_Device* device = nullptr;
    std::shared_ptr<std::vector<std::byte>> data;  ///< absent after it was deleted or donated
    std::uint64_t number = 0;                      ///< another one for each array that came about
    std::vector<std::int64_t> minor_to_major;

    /// With memory for the array's values. Throws bad_alloc.
    PJRT_Buffer(systole::pjrt::ArrayType type, PJRT_Device* on);
};

struct PJRT_DeviceAssignmentSerialized {};
struct PJRT_SerializedCompileOptions {};

namespace systole::pjrt {

PJRT_Error* error(PJRT_Error_Code code, std::string message);

/// A function of the interface that needs memory. No exception may leave the library.
template <auto function>
struct Guarded;
template <class Args, PJRT_Error* (*function)(Args*)>
struct Guarded<function> {
    static PJRT_Error* call(Args* args) {
        try {
            return function(args);
        } catch (const std::exception& failure) {
            return error(PJRT_Error_Code_RESOURCE_EXHAUSTED, failure.what());
        }
    }
};

/// What each part of the interface adds to its table of functions.
void add_errors_and_events(PJRT_Api& api);
void add_client(PJRT_Api& api);
void add_buffers(PJRT_Api& api);
void add_executables(PJRT_Api& api);

}  // namespace systole::pjrt
