// The client, its devices and their memories.
#include <string>
#include <string_view>

#include "bridge.h"
#include "objects.h"

namespace systole::pjrt {
namespace {

std::string_view name_of(const PJRT_NamedValue& value) {
    return {value.name, value.name_size};
}

PJRT_Error* create(PJRT_Client_Create_Args* args) {
    if (callbacks() == nullptr) {
        return error(PJRT_Error_Code_FAILED_PRECONDITION,
                     "the library was not loaded by systole.jax_device: set JAX_PLATFORMS=systole");
    }
    std::int64_t cores = 0;
    std::string kind;
    std::string version;
    for (std::size_t i = 0; i < args->num_options; ++i) {
        const PJRT_NamedValue& option = args->create_options[i];
        if (name_of(option) == "cores" && option.type == PJRT_NamedValue_kInt64) {
            cores = option.int64_value;
        } else if (name_of(option) == "machine" && option.type == PJRT_NamedValue_kString) {
            kind.assign(option.string_value, option.value_size);
        } else if (name_of(option) == "version" && option.type == PJRT_NamedValue_kString) {
            version.assign(option.string_value, option.value_size);
        } else {
            return error(PJRT_Error_Code_INVALID_ARGUMENT,
                         std::string(name_of(option)) + " is no option of the device systole");
        }
    }
    auto client = std::make_unique<PJRT_Client>();
    for (int id = 0; id < cores; ++id) {
        auto device = std::make_unique<PJRT_Device>();
        const std::string text = "SystoleCore(id=" + std::to_string(id) + ", machine=" + kind + ")";
        device->description = {.id = id, .kind = kind, .text = text};
        device->memory = {.device = device.get(), .text = "Memory of " + text};
        client->devices.push_back(device.get());
        client->memories.push_back(&device->memory);
        client->topology.descriptions.push_back(&device->description);
        client->owned.push_back(std::move(device));
    }
    client->topology.platform_version = version;
    args->client = client.release();
    return nullptr;
}

PJRT_Error* destroy(PJRT_Client_Destroy_Args* args) {
    delete args->client;
    return nullptr;
}

PJRT_Error* platform_name(PJRT_Client_PlatformName_Args* args) {
    args->platform_name = platform;
    args->platform_name_size = std::string_view(platform).size();
    return nullptr;
}

PJRT_Error* process_index(PJRT_Client_ProcessIndex_Args* args) {
    args->process_index = 0;
    return nullptr;
}

PJRT_Error* platform_version(PJRT_Client_PlatformVersion_Args* args) {
    args->platform_version = args->client->topology.platform_version.c_str();
    args->platform_version_size = args->client->topology.platform_version.size();
    return nullptr;
}

PJRT_Error* topology(PJRT_Client_TopologyDescription_Args* args) {
    args->topology = &args->client->topology;
    return nullptr;
}

PJRT_Error* devices(PJRT_Client_Devices_Args* args) {
    args->devices = args->client->devices.data();
    args->num_devices = args->client->devices.size();
    return nullptr;
}

PJRT_Error* addressable_devices(PJRT_Client_AddressableDevices_Args* args) {
    args->addressable_devices = args->client->devices.data();
    args->num_addressable_devices = args->client->devices.size();
    return nullptr;
}

PJRT_Error* find_device(const PJRT_Client& client, int id, PJRT_Device*& found) {
    if (id < 0 || static_cast<std::size_t>(id) >= client.devices.size()) {
        return error(PJRT_Error_Code_INVALID_ARGUMENT, "there is no device " + std::to_string(id));
    }
    found = client.devices[static_cast<std::size_t>(id)];
    return nullptr;
}

PJRT_Error* lookup_device(PJRT_Client_LookupDevice_Args* args) {
    return find_device(*args->client, args->id, args->device);
}

PJRT_Error* lookup_addressable_device(PJRT_Client_LookupAddressableDevice_Args* args) {
    return find_device(*args->client, args->local_hardware_id, args->addressable_device);
}

PJRT_Error* addressable_memories(PJRT_Client_AddressableMemories_Args* args) {
    args->addressable_memories = args->client->memories.data();
    args->num_addressable_memories = args->client->memories.size();
    return nullptr;
}

PJRT_Error* default_device_assignment(PJRT_Client_DefaultDeviceAssignment_Args* args) {
    const int count = args->num_replicas * args->num_partitions;
    if (count < 0 || static_cast<std::size_t>(count) > args->client->devices.size()) {
        return error(PJRT_Error_Code_INVALID_ARGUMENT,
                     "a program for " + std::to_string(count) + " devices; the machine has " +
                         std::to_string(args->client->devices.size()) + " cores");
    }
    for (int i = 0; i < count; ++i) args->default_assignment[i] = i;
    return nullptr;
}

PJRT_Error* description_id(PJRT_DeviceDescription_Id_Args* args) {
    args->id = args->device_description->id;
    return nullptr;
}

PJRT_Error* description_process_index(PJRT_DeviceDescription_ProcessIndex_Args* args) {
    args->process_index = 0;
    return nullptr;
}

PJRT_Error* description_attributes(PJRT_DeviceDescription_Attributes_Args* args) {
    args->attributes = nullptr;
    args->num_attributes = 0;
    return nullptr;
}

PJRT_Error* description_kind(PJRT_DeviceDescription_Kind_Args* args) {
    args->device_kind = args->device_description->kind.c_str();
    args->device_kind_size = args->device_description->kind.size();
    return nullptr;
}

PJRT_Error* description_debug_string(PJRT_DeviceDescription_DebugString_Args* args) {
    args->debug_string = args->device_description->text.c_str();
    args->debug_string_size = args->device_description->text.size();
    return nullptr;
}

PJRT_Error* description_to_string(PJRT_DeviceDescription_ToString_Args* args) {
    args->to_string = args->device_description->text.c_str();
    args->to_string_size = args->device_description->text.size();
    return nullptr;
}

PJRT_Error* get_description(PJRT_Device_GetDescription_Args* args) {
    args->device_description = &args->device->description;
    return nullptr;
}

PJRT_Error* is_addressable(PJRT_Device_IsAddressable_Args* args) {
    args->is_addressable = true;
    return nullptr;
}

PJRT_Error* local_hardware_id(PJRT_Device_LocalHardwareId_Args* args) {
    args->local_hardware_id = args->device->description.id;
    return nullptr;
}

PJRT_Error* memories_of_device(PJRT_Device_AddressableMemories_Args* args) {
    args->memories = args->device->memories;
    args->num_memories = 1;
    return nullptr;
}

PJRT_Error* default_memory(PJRT_Device_DefaultMemory_Args* args) {
    args->memory = &args->device->memory;
    return nullptr;
}

PJRT_Error* memory_id(PJRT_Memory_Id_Args* args) {
    args->id = args->memory->device->description.id;
    return nullptr;
}

PJRT_Error* kind_of_memory(PJRT_Memory_Kind_Args* args) {
    args->kind = memory_kind;
    args->kind_size = std::string_view(memory_kind).size();
    return nullptr;
}

PJRT_Error* kind_id_of_memory(PJRT_Memory_Kind_Id_Args* args) {
    args->kind_id = 0;
    return nullptr;
}

PJRT_Error* memory_debug_string(PJRT_Memory_DebugString_Args* args) {
    args->debug_string = args->memory->text.c_str();
    args->debug_string_size = args->memory->text.size();
    return nullptr;
}

PJRT_Error* memory_to_string(PJRT_Memory_ToString_Args* args) {
    args->to_string = args->memory->text.c_str();
    args->to_string_size = args->memory->text.size();
    return nullptr;
}

PJRT_Error* devices_of_memory(PJRT_Memory_AddressableByDevices_Args* args) {
    args->devices = &args->memory->device;
    args->num_devices = 1;
    return nullptr;
}

PJRT_Error* topology_platform_name(PJRT_TopologyDescription_PlatformName_Args* args) {
    args->platform_name = platform;
    args->platform_name_size = std::string_view(platform).size();
    return nullptr;
}

PJRT_Error* topology_platform_version(PJRT_TopologyDescription_PlatformVersion_Args* args) {
    args->platform_version = args->topology->platform_version.c_str();
    args->platform_version_size = args->topology->platform_version.size();
    return nullptr;
}

PJRT_Error* topology_devices(PJRT_TopologyDescription_GetDeviceDescriptions_Args* args) {
    args->descriptions = args->topology->descriptions.data();
    args->num_descriptions = args->topology->descriptions.size();
    return nullptr;
}

PJRT_Error* topology_attributes(PJRT_TopologyDescription_Attributes_Args* args) {
    args->attributes = nullptr;
    args->num_attributes = 0;
    return nullptr;
}

/// The client's topology lives as long as the client, and no other can be made.
PJRT_Error* destroy_topology(PJRT_TopologyDescription_Destroy_Args* /*args*/) {
    return nullptr;
}

}  // namespace

void add_client(PJRT_Api& api) {
    api.PJRT_Client_Create = Guarded<create>::call;
    api.PJRT_Client_Destroy = destroy;
    api.PJRT_Client_PlatformName = platform_name;
    api.PJRT_Client_ProcessIndex = process_index;
    api.PJRT_Client_PlatformVersion = platform_version;
    api.PJRT_Client_TopologyDescription = topology;
    api.PJRT_Client_Devices = devices;
    api.PJRT_Client_AddressableDevices = addressable_devices;
    api.PJRT_Client_LookupDevice = lookup_device;
    api.PJRT_Client_LookupAddressableDevice = lookup_addressable_device;
    api.PJRT_Client_AddressableMemories = addressable_memories;
    api.PJRT_Client_DefaultDeviceAssignment = default_device_assignment;
    api.PJRT_DeviceDescription_Id = description_id;
    api.PJRT_DeviceDescription_ProcessIndex = description_process_index;
    api.PJRT_DeviceDescription_Attributes = description_attributes;
    api.PJRT_DeviceDescription_Kind = description_kind;
    api.PJRT_DeviceDescription_DebugString = description_debug_string;
    api.PJRT_DeviceDescription_ToString = description_to_string;
    api.PJRT_Device_GetDescription = get_description;
    api.PJRT_Device_IsAddressable = is_addressable;
    api.PJRT_Device_LocalHardwareId = local_hardware_id;
    api.PJRT_Device_AddressableMemories = memories_of_device;
    api.PJRT_Device_DefaultMemory = default_memory;
    api.PJRT_Memory_Id = memory_id;
    api.PJRT_Memory_Kind = kind_of_memory;
    api.PJRT_Memory_Kind_Id = kind_id_of_memory;
    api.PJRT_Memory_DebugString = memory_debug_string;
    api.PJRT_Memory_ToString = memory_to_string;
    api.PJRT_Memory_AddressableByDevices = devices_of_memory;
    api.PJRT_TopologyDescription_PlatformName = topology_platform_name;
    api.PJRT_TopologyDescription_PlatformVersion = topology_platform_version;
    api.PJRT_TopologyDescription_GetDeviceDescriptions = topology_devices;
    api.PJRT_TopologyDescription_Attributes = topology_attributes;
    api.PJRT_TopologyDescription_Destroy = destroy_topology;
}

}  // namespace systole::pjrt
