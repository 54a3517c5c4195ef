/* SPDX-License-Identifier: Apache-2.0
 *
 * What a trace says of the devices: asked of a driver that the test plays, once a device, and never while a capture is
 * open.
 */
#include "tests/record/recording.h"

extern "C" {
#include "interpose/driver/driver.h"
#include "interpose/record/device/device_facts.h"
#include "interpose/record/recorder.h"
#include "interpose/record/start.h"
#include "interpose/state/capture.h"
}

namespace
{

int g_mode, g_refuses;

CUresult name_of(char *name, int size, CUdevice device)
{
    EXPECT_EQ(255, size);
    snprintf(name, static_cast<size_t>(size), "Device %d", device);
    return CUDA_SUCCESS;
}
CUresult attribute_of(int *value, CUdevice_attribute which, CUdevice)
{
    *value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_MODE               ? g_mode
             : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9
             : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 0
             : which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT     ? 132
                                                                     : -5;
    return which == g_refuses ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

class Devices : public Recording
{
protected:
    using Texts = std::vector<std::string>;
    void SetUp() override
    {
        Recording::SetUp();
        driver.cuDeviceGetName = name_of;
        driver.cuDeviceGetAttribute = attribute_of;
        g_mode = CU_COMPUTEMODE_DEFAULT;
        g_refuses = 0;
    }
    void TearDown() override
    {
        driver.cuDeviceGetName = nullptr;
        driver.cuDeviceGetAttribute = nullptr;
        Recording::TearDown();
    }
    /* What was said of devices. */
    static Texts facts()
    {
        Texts found;
        for (const std::string &text : texts<ptds_rec_SETTING>(PTDS_REC_SETTING))
            if (text.rfind("device.", 0) == 0)
                found.push_back(text);
        return found;
    }
};

TEST_F(Devices, EachOnce)
{
    device_facts_record(3);
    device_facts_record(3);
    const Texts of_3 = {"device.3.name=Device 3", "device.3.compute_mode=default", "device.3.capability_major=9",
                        "device.3.capability_minor=0", "device.3.multiprocessors=132"};
    EXPECT_EQ(of_3, facts());
    EXPECT_EQ(unsigned{PTDS_SETTING_PROCESS}, last<ptds_rec_SETTING>(PTDS_REC_SETTING).kind);
    device_facts_record(63);
    EXPECT_EQ(10u, facts().size());
    EXPECT_EQ("device.63.name=Device 63", facts()[5]);
    recorder_after_fork();
    start_recording();
    device_facts_record(3);
    EXPECT_EQ(of_3, facts()) << "a child's trace is another one";
}

TEST_F(Devices, NoneThatIsUnknown)
{
    device_facts_record(-1);
    device_facts_record(64);
    EXPECT_EQ(Texts{}, facts());
}

/* Nothing is asked then, and it is no question less later. */
TEST_F(Devices, NotWhileACaptureIsOpen)
{
    captures_open = 1;
    device_facts_record(0);
    captures_open = 0;
    EXPECT_EQ(Texts{}, facts());
    recorder_running = 2;
    device_facts_record(0);
    recorder_running = 1;
    EXPECT_EQ(Texts{}, facts());
    device_facts_record(0);
    EXPECT_EQ(5u, facts().size());
}

TEST_F(Devices, Modes)
{
    int device = 0;
    for (const auto &[mode, word] : {std::pair{int{CU_COMPUTEMODE_DEFAULT}, "default"},
                                     {CU_COMPUTEMODE_PROHIBITED, "prohibited"},
                                     {CU_COMPUTEMODE_EXCLUSIVE_PROCESS, "exclusive-process"},
                                     {99, "unknown"}}) {
        g_mode = mode;
        device_facts_record(device);
        EXPECT_EQ("device." + std::to_string(device) + ".compute_mode=" + word, facts()[size_t(device) * 5 + 1]);
        device++;
    }
}

TEST_F(Devices, WhatTheDriverRefuses)
{
    g_refuses = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
    device_facts_record(1);
    EXPECT_EQ(4u, facts().size());
    driver.cuDeviceGetName = nullptr;
    driver.cuDeviceGetAttribute = nullptr;
    device_facts_record(2);
    EXPECT_EQ(4u, facts().size());
}

/* With the context that first uses it, as long as that is there. */
TEST_F(Devices, WithTheirContexts)
{
    context_.device = 5;
    recorder_context(&context_, PTDS_LIFE_GONE);
    EXPECT_EQ(Texts{}, facts());
    recorder_context(&context_, PTDS_LIFE_SEEN);
    EXPECT_EQ(5u, facts().size());
}

} // namespace
