#include "heed/text/abbreviations.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace heed::text {
namespace {

struct LanguageWords {
  std::string_view language, inside, before_number, anywhere;
};

constexpr LanguageWords kWords[] = {
    {"en",
     "mr mrs ms messrs mx dr drs prof rev hon gen lt col capt cmdr sgt maj gov sen rep st mt pres supt insp vs cf viz "
     "e.g "
     "i.e approx esp",
     "no nos ext vol vols p pp fig figs ch chap sec sect art eq eqs ref refs jan feb mar apr jun jul aug sep sept oct "
     "nov "
     "dec",
     "etc inc ltd co corp jr sr bros dept est ave blvd rd assn univ al a.m p.m ph.d b.a m.a b.sc m.sc"},
    {"de",
     "dr prof hr fr frl dipl ing z.b zb bzw d.h u.a o.ä vgl ca evtl ggf sog insb bes st geb gest inkl exkl zzgl abzgl "
     "allg ehem i.d.r m.e med phil jur rer nat i.a i.v",
     "nr nrn s abs art bd kap abb tab aufl jg ziff rn tel",
     "usw etc v.chr n.chr chr jh jhd jhdt str mio mrd tsd std min sek u.ä dgl ff hrsg u.s.w"},
    {"fr", "m mm mme mmes mlle mlles mgr dr pr st ste p.ex ex cf env av c.-à-d c.à.d",
     "no n p pp vol chap fig art éd t", "etc j.-c s.a"},
    {"es", "sr sra srta sres dr dra d dña prof profa lic ing gral ud uds vd vds p.ej ej av avda ee",
     "núm num nro no pág págs art cap vol fig", "etc s.a s.l uu ee.uu a.c d.c"},
    {"it", "sig sigg dott prof ing avv geom rag mons arch p.es es cfr", "n nn pag pagg art cap vol fig",
     "ecc s.p.a s.r.l a.c d.c"},
    {"pt", "sr sra srs dr dra prof profa exmo exma eng p.ex av", "n pág págs art cap vol fig", "etc ltda s.a"},
    {"nl", "dhr mevr mw dr prof ir ing drs mr bijv d.w.z o.a m.b.t t.a.v i.v.m resp vgl ca", "nr blz art afb hfst",
     "enz etc e.d b.v n.v"},
    {"pl", "dr prof inż mgr hab gen płk ks np tj tzw m.in św ul", "nr str s art rys tab", "itd itp"},
    {"cs", "dr prof ing mgr judr mudr např tzn tzv tj", "č str odst obr", "atd apod"},
    {"sv", "t.ex bl.a d.v.s dvs ca jfr dr prof hr", "nr s kl", "osv etc m.m m.fl"},
    {"da", "f.eks bl.a d.v.s dvs ca jf dr prof hr", "nr s kl", "osv etc m.m m.fl"},
    {"nb", "f.eks bl.a d.v.s dvs ca jf dr prof hr", "nr s kl", "osv etc m.m m.fl"},
    {"fi", "esim ks ns ts", "nro s", "jne ym yms"},
    {"tr", "dr prof doç av sn örn bkz", "no s", "vb vs"},
    {"hu", "dr ún", "sz", "stb"},
    {"ru", "г ул пл просп д кв им акад проф т.е т.к т.н см ср напр", "рис табл стр гл с",
     "т.д т.п др пр руб коп тыс млн млрд гг вв н.э"},
    {"uk", "м вул просп ім акад проф див напр т.зв т.е", "рис табл стор с", "т.д т.п ін грн рр"},
    {"el", "κ κκ κος κα δρ καθ π.χ πχ βλ δηλ", "αρ σελ", "κ.λπ κλπ κ.ά κ.α μ.μ π.μ"},
};

constexpr std::string_view kBeginners =
    "The This That These Those It He She We They You But And If When There However Der Die Das Es Er Sie Wir Ich Und "
    "Aber "
    "Wenn Nous Vous Mais Cette Ces Il Elle Он Она Они Это Но Мы";

constexpr std::string_view kAfterOrdinals =
    "Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember Jahrhundert "
    "Jahrhunderts "
    "Jahrtausend Jahrtausends Jahrhunderte Klasse Platz Weltkrieg Weltkriegs Weltkrieges Etage Stock Liga Auflage "
    "Kapitel "
    "Geburtstag Jahrestag Tag Mal Minute Stunde Runde Bundesliga Semester Quartal Bezirk Armee Division";

// Calls action for each of the words between spaces.
template <class Action>
void for_each_word(std::string_view words, const Action& action) {
  for (std::size_t begin = 0; begin < words.size();) {
    std::size_t end = words.find(' ', begin);
    if (end == std::string_view::npos) end = words.size();
    action(words.substr(begin, end - begin));
    begin = end + 1;
  }
}

using Kinds = std::unordered_map<std::string_view, Abbreviation>;

const std::unordered_map<std::string_view, Kinds>& tables() {
  static const auto made = [] {
    std::unordered_map<std::string_view, Kinds> all;
    for (const LanguageWords& words : kWords) {
      const auto add = [&](std::string_view list, Abbreviation kind) {
        for_each_word(list, [&](std::string_view word) {
          all[words.language].emplace(word, kind);
          // Of all languages together the kind that joins most wins.
          const auto [known, added] = all[""].emplace(word, kind);
          if (!added && kind == Abbreviation::inside) known->second = kind;
        });
      };
      add(words.inside, Abbreviation::inside);
      add(words.before_number, Abbreviation::before_number);
      add(words.anywhere, Abbreviation::anywhere);
    }
    return all;
  }();
  return made;
}

std::unordered_set<std::string_view> word_set(std::string_view words) {
  std::unordered_set<std::string_view> set;
  for_each_word(words, [&](std::string_view word) { set.insert(word); });
  return set;
}

}  // namespace

Abbreviation abbreviation(std::string_view word, std::string_view language) {
  const auto& all = tables();
  auto table = all.find(language);
  if (table == all.end()) table = all.find("");
  const auto found = table->second.find(word);
  return found == table->second.end() ? Abbreviation::none : found->second;
}

bool begins_sentences(std::string_view word) {
  static const auto words = word_set(kBeginners);
  return words.contains(word);
}

bool follows_ordinal(std::string_view word) {
  static const auto words = word_set(kAfterOrdinals);
  return words.contains(word);
}

}  // namespace heed::text
