/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of the conformance programs, the demo and other tests, as PTX text that every driver since 450 takes; the
 * simulated one runs the same text. Only integers, words of 32 bits unless a row says otherwise; every kernel works for any
 * grid and block (each thread strides over the elements).
 *
 *   empty()                             nothing
 *   gate(u64 flag)                      runs until the word at flag is not 0; flag: cuMemHostAlloc memory, never managed
 *   spin_ns(u64 ns), spin(u64 ns)       runs that long
 *   spin_add(u64 p, u64 ns, u32 n)      runs that long, then p[i] += 1
 *   mark(u64 p, u32 value)              *p = value, seen by the host at once; p: cuMemHostAlloc memory
 *   ticket(u64 counter, u64 slot)       *slot = (*counter)++, atomically: the order in which kernels ran
 *   fill(u64 p, u32 value, u32 n)       p[i] = value
 *   add_one(u64 p, u32 n)               p[i] += 1
 *   copy(u64 dst, u64 src, u32 n)       dst[i] = src[i]
 *   add(u64 c, u64 a, u64 b, u32 n)     c[i] = a[i] + b[i]
 *   saxpy(u64 y, u64 x, f32 a, u32 n)   y[i] = a * x[i] + y[i], floats, not fused
 */
#ifndef PTDS_TESTS_KERNELS_PTX_H
#define PTDS_TESTS_KERNELS_PTX_H

/* clang-format off */

#define PTX_ELEMENTS_BEGIN(count) \
    "mov.u32 %r20, %ctaid.x;\n mov.u32 %r21, %ntid.x;\n mov.u32 %r22, %tid.x;\n mov.u32 %r23, %nctaid.x;\n" \
    "mad.lo.u32 %r24, %r20, %r21, %r22;\n mul.lo.u32 %r25, %r23, %r21;\n" \
    "NEXT:\n setp.ge.u32 %p1, %r24, " count ";\n @%p1 bra DONE;\n mul.wide.u32 %rd20, %r24, 4;\n"

#define PTX_ELEMENTS_END "add.u32 %r24, %r24, %r25;\n bra NEXT;\nDONE:\n ret;\n}\n"

#define PTX_REGISTERS ".reg .pred %p<4>;\n .reg .b32 %r<32>;\n .reg .f32 %f<8>;\n .reg .b64 %rd<32>;\n"

#define PTX_POINTER(reg, name) "ld.param.u64 " reg ", [" name "];\n cvta.to.global.u64 " reg ", " reg ";\n"

#define PTX_SPIN(name) \
    ".visible .entry " name "(.param .u64 " name "_ns)\n{\n" PTX_REGISTERS \
    "ld.param.u64 %rd1, [" name "_ns];\n mov.u64 %rd2, %globaltimer;\n" \
    "AGAIN:\n mov.u64 %rd3, %globaltimer;\n sub.u64 %rd4, %rd3, %rd2;\n setp.lt.u64 %p1, %rd4, %rd1;\n" \
    "@%p1 bra AGAIN;\n ret;\n}\n"

static const char ptds_test_ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"

    ".visible .entry empty()\n{\n ret;\n}\n"

    ".visible .entry gate(.param .u64 gate_flag)\n{\n" PTX_REGISTERS PTX_POINTER("%rd1", "gate_flag")
    "WAIT:\n ld.volatile.global.u32 %r1, [%rd1];\n setp.eq.u32 %p1, %r1, 0;\n @%p1 bra WAIT;\n ret;\n}\n"

    PTX_SPIN("spin_ns") PTX_SPIN("spin")

    ".visible .entry mark(.param .u64 mark_p, .param .u32 mark_value)\n{\n" PTX_REGISTERS PTX_POINTER("%rd1", "mark_p")
    "ld.param.u32 %r1, [mark_value];\n st.volatile.global.u32 [%rd1], %r1;\n membar.sys;\n ret;\n}\n"

    ".visible .entry ticket(.param .u64 ticket_counter, .param .u64 ticket_slot)\n{\n" PTX_REGISTERS
    PTX_POINTER("%rd1", "ticket_counter") PTX_POINTER("%rd2", "ticket_slot")
    "atom.global.add.u32 %r1, [%rd1], 1;\n st.global.u32 [%rd2], %r1;\n ret;\n}\n"

    ".visible .entry fill(.param .u64 fill_p, .param .u32 fill_value, .param .u32 fill_n)\n{\n" PTX_REGISTERS
    PTX_POINTER("%rd1", "fill_p") "ld.param.u32 %r1, [fill_value];\n ld.param.u32 %r2, [fill_n];\n"
    PTX_ELEMENTS_BEGIN("%r2") "add.u64 %rd2, %rd1, %rd20;\n st.global.u32 [%rd2], %r1;\n" PTX_ELEMENTS_END

    ".visible .entry add_one(.param .u64 add_one_p, .param .u32 add_one_n)\n{\n" PTX_REGISTERS
    PTX_POINTER("%rd1", "add_one_p") "ld.param.u32 %r2, [add_one_n];\n"
    PTX_ELEMENTS_BEGIN("%r2") "add.u64 %rd2, %rd1, %rd20;\n ld.global.u32 %r1, [%rd2];\n add.u32 %r1, %r1, 1;\n"
    "st.global.u32 [%rd2], %r1;\n" PTX_ELEMENTS_END

    ".visible .entry spin_add(.param .u64 spin_add_p, .param .u64 spin_add_ns, .param .u32 spin_add_n)\n{\n" PTX_REGISTERS
    PTX_POINTER("%rd1", "spin_add_p") "ld.param.u64 %rd5, [spin_add_ns];\n ld.param.u32 %r2, [spin_add_n];\n"
    "mov.u64 %rd2, %globaltimer;\nAGAIN:\n mov.u64 %rd3, %globaltimer;\n sub.u64 %rd4, %rd3, %rd2;\n"
    "setp.lt.u64 %p2, %rd4, %rd5;\n @%p2 bra AGAIN;\n" PTX_ELEMENTS_BEGIN("%r2")
    "add.u64 %rd2, %rd1, %rd20;\n ld.global.u32 %r1, [%rd2];\n add.u32 %r1, %r1, 1;\n"
    "st.global.u32 [%rd2], %r1;\n" PTX_ELEMENTS_END

    ".visible .entry copy(.param .u64 copy_dst, .param .u64 copy_src, .param .u32 copy_n)\n{\n" PTX_REGISTERS
    PTX_POINTER("%rd1", "copy_dst") PTX_POINTER("%rd2", "copy_src") "ld.param.u32 %r2, [copy_n];\n"
    PTX_ELEMENTS_BEGIN("%r2") "add.u64 %rd3, %rd1, %rd20;\n add.u64 %rd4, %rd2, %rd20;\n"
    "ld.global.u32 %r1, [%rd4];\n st.global.u32 [%rd3], %r1;\n" PTX_ELEMENTS_END

    ".visible .entry add(.param .u64 add_c, .param .u64 add_a, .param .u64 add_b, .param .u32 add_n)\n{\n" PTX_REGISTERS
    PTX_POINTER("%rd1", "add_c") PTX_POINTER("%rd2", "add_a") PTX_POINTER("%rd3", "add_b")
    "ld.param.u32 %r2, [add_n];\n" PTX_ELEMENTS_BEGIN("%r2")
    "add.u64 %rd4, %rd1, %rd20;\n add.u64 %rd5, %rd2, %rd20;\n add.u64 %rd6, %rd3, %rd20;\n"
    "ld.global.u32 %r3, [%rd5];\n ld.global.u32 %r4, [%rd6];\n add.u32 %r3, %r3, %r4;\n"
    "st.global.u32 [%rd4], %r3;\n" PTX_ELEMENTS_END

    ".visible .entry saxpy(.param .u64 saxpy_y, .param .u64 saxpy_x, .param .f32 saxpy_a, .param .u32 saxpy_n)\n{\n"
    PTX_REGISTERS PTX_POINTER("%rd1", "saxpy_y") PTX_POINTER("%rd2", "saxpy_x")
    "ld.param.f32 %f1, [saxpy_a];\n ld.param.u32 %r2, [saxpy_n];\n" PTX_ELEMENTS_BEGIN("%r2")
    "add.u64 %rd3, %rd1, %rd20;\n add.u64 %rd4, %rd2, %rd20;\n ld.global.f32 %f2, [%rd3];\n ld.global.f32 %f3, [%rd4];\n"
    "mul.rn.f32 %f3, %f3, %f1;\n add.rn.f32 %f2, %f2, %f3;\n st.global.f32 [%rd3], %f2;\n" PTX_ELEMENTS_END;

/* clang-format on */

#endif
