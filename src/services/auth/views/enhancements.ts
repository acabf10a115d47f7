/**
 * The script of pages with passwords and codes, which work without it: it adds a button that shows the password, and keeps everything
 * but digits out of a code of digits.
 */
export const enhancements = `
for (const input of document.querySelectorAll('.secret input')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'reveal';
  const show = (shown) => {
    input.type = shown ? 'text' : 'password';
    button.textContent = shown ? 'Hide' : 'Show';
    button.setAttribute('aria-label', shown ? 'Hide password' : 'Show password');
  };
  show(false);
  button.addEventListener('click', () => show(input.type === 'password'));
  input.form.addEventListener('submit', () => show(false));
  input.after(button);
}
for (const input of document.querySelectorAll('.cells input')) {
  input.addEventListener('input', () => {
    const digits = input.value.replace(/[^0-9]/g, '');
    if (digits !== input.value) input.value = digits;
  });
  input.addEventListener('paste', (event) => {
    event.preventDefault();
    input.value = event.clipboardData.getData('text').replace(/[^0-9]/g, '').slice(0, 6);
  });
}
`;
