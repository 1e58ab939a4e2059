#pragma once

#include <cstddef>
#include <cstdint>

#include "xla/pjrt/c/pjrt_c_api.h"

/// Between this library and systole.jax_device, which is in the same process and calls these functions
/// through ctypes. Python compiles and runs; the library keeps arrays.
extern "C" {

/// What Python does for the library. ctypes takes the lock of the interpreter in each. An error is said by
/// `systole_fail`, else there is none.
struct SystoleCallbacks {
    /// Compiles a program ("mlir": a portable artifact of StableHLO) and describes it with the functions
    /// below.
    void (*compile)(void* program, const char* code, std::size_t code_size, const char* options,
                    std::size_t options_size, PJRT_Error* error);
    /// Runs a program. The lists go through the arguments, or outputs, of the first device, then of the next.
    /// Arguments are read and outputs written in place. The numbers are those of the arrays: equal ones are
    /// the same array.
    void (*execute)(std::int64_t key, void* const* arguments, const std::uint64_t* argument_numbers,
                    void* const* outputs, const std::uint64_t* output_numbers, PJRT_Error* error);
};

/// Needed before JAX makes a client. A null pointer ends it: Python itself ends.
void systole_connect(const SystoleCallbacks* callbacks);

/// A program that no one can run again, once, or 0. Python asks: where programs end, an exception may be
/// under way, with which nothing may be called in Python.
std::int64_t systole_next_ended(void);

void systole_fail(PJRT_Error* error, int code, const char* message);

void systole_set_program(void* program, std::int64_t key, const char* name);
/// The device of the next part of the program.
void systole_add_device(void* program, std::int64_t id);
/// Bytes on one device.
void systole_add_argument(void* program, std::int64_t bytes, int is_donated);
/// `type` is a PJRT_Buffer_Type; the shape is that on one device.
void systole_add_output(void* program, int type, const std::int64_t* dims, std::int64_t rank);
/// Serialized HloModuleProtoWithConfig and DeviceAssignmentProto.
void systole_set_protos(void* program, const char* hlo, std::int64_t hlo_size, const char* assignment,
                        std::int64_t assignment_size);
}

namespace systole::pjrt {

/// Absent before Python has connected, and after it has ended.
const SystoleCallbacks* callbacks();

}  // namespace systole::pjrt
