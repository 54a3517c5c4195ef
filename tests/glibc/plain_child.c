/* SPDX-License-Identifier: Apache-2.0
 *
 * Built as any program is. Run by nobody: floor_test.sh looks at what it needs.
 */
int main(void)
{
    return 0;
}
